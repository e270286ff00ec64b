package main

import "fmt"

// aim is what a figure is meant to reach.
type aim struct {
	text string
	met  func(f figure) bool
}

func valueAtMost(most float64) aim {
	return aim{fmt.Sprintf("a value of at most %v", most), func(f figure) bool { return f.value <= most }}
}

func valueAtLeast(least float64) aim {
	return aim{fmt.Sprintf("a value of at least %v", least), func(f figure) bool { return f.value >= least }}
}

// moreAtMost bounds the difference.
func moreAtMost(most float64) aim {
	return aim{fmt.Sprintf("at most %v more than the baseline", most), func(f figure) bool { return f.value-f.baselineValue <= most }}
}

func ratioAtMost(most float64) aim {
	return aim{fmt.Sprintf("a ratio of at most %v", most), func(f figure) bool { return f.compared() <= most }}
}

// ratioAtLeast holds where there is nothing to compare with.
func ratioAtLeast(least float64) aim {
	return aim{fmt.Sprintf("a ratio of at least %v", least), func(f figure) bool { return f.baselineValue == 0 || f.compared() >= least }}
}

// aims are those of the figures that have one.
var aims = map[string][]aim{
	"commit_p50":                      {ratioAtMost(2)},
	"newcomer_eager":                  {valueAtMost(3.5)},
	"newcomer_eager_6h":               {valueAtMost(3.5)},
	"newcomer_cooperative":            {valueAtMost(6.5)},
	"newcomer_cooperative_6h":         {valueAtMost(6.5)},
	"noop_partition_1":                {ratioAtLeast(0.9)},
	"noop_partition_4":                {ratioAtLeast(0.9)},
	"noop_partition_16":               {ratioAtLeast(0.9)},
	"noop_partition_1_extra_allocs":   {valueAtMost(0.1)},
	"noop_partition_4_extra_allocs":   {valueAtMost(0.1)},
	"noop_partition_16_extra_allocs":  {valueAtMost(0.1)},
	"hang_neighbours_commit_max":      {moreAtMost(50)},
	"hang_neighbours_return_max":      {valueAtMost(50)},
	"stop_idle":                       {valueAtMost(1)},
	"stop_stubborn":                   {moreAtMost(2)},
	"stop_unreachable":                {valueAtMost(6)},
	"lease_bound":                     {ratioAtMost(1)},
	"key_20ms":                        {valueAtLeast(0.99), ratioAtLeast(1)},
	"none_20ms":                       {valueAtLeast(0.99)},
	"partition_20ms":                  {valueAtLeast(0.95)},
	"key_1ms":                         {valueAtLeast(0.99)},
	"key_1ms_wall":                    {ratioAtMost(1.1)},
	"key_1ms_deep":                    {valueAtLeast(0.97)},
	"key_100ms":                       {valueAtLeast(0.97)},
	"key_noop_200000":                 {ratioAtLeast(15)},
	"key_noop_1000000":                {ratioAtLeast(15)},
	"key_noop_raw":                    {ratioAtLeast(0.5)},
	"trickle_partition":               {ratioAtMost(1)},
	"trickle_key":                     {ratioAtMost(1)},
	"trickle_none":                    {ratioAtMost(1)},
	"heap_1mb_max":                    {ratioAtMost(1)},
	"heap_1mb_growth":                 {valueAtMost(1.1)},
	"heap_1mb_mixed_max":              {ratioAtMost(1)},
	"heap_1mb_mixed_growth":           {valueAtMost(1.1)},
	"heap_small_max":                  {ratioAtMost(1)},
	"heap_small_growth":               {valueAtMost(1.1)},
	"offset_cost_end":                 {ratioAtMost(4)},
	"offset_cost_commit":              {ratioAtMost(1.5)},
	"engine_cost_end":                 {ratioAtMost(2)},
	"engine_cost_commit":              {ratioAtMost(1.5)},
	"churn_repeats_cooperative":       {valueAtMost(0)},
	"churn_repeats_eager":             {valueAtMost(0)},
	"traffic_commits":                 {valueAtMost(10)},
	"planned_wasted":                  {valueAtMost(0)},
	"planned_repeats":                 {valueAtMost(0)},
	"waste_planned":                   {valueAtMost(0)},
	"newcomer_idle_share_eager":       {valueAtMost(3.5)},
	"newcomer_idle_share_cooperative": {valueAtMost(6.5)},
	"waste_planned_repeats":           {valueAtMost(0)},
	"waste_planned_idle":              {ratioAtMost(1)},
	"plan_1000x10000":                 {valueAtMost(50)},
	"plan_1000x10000_idle":            {valueAtMost(50)},
}

// missed says which aims a figure has not reached.
func (f figure) missed() (texts []string) {
	for _, a := range aims[f.name] {
		if !a.met(f) {
			texts = append(texts, a.text)
		}
	}
	return texts
}
