package main

import (
	"image/color"
	"os"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	chartWidth  = 24 * vg.Centimeter
	chartHeight = 9 * vg.Centimeter
	legendWidth = 6 * vg.Centimeter
	logarithmic = 30 // times the least that the most has to be for a logarithmic axis
)

// chart is columns of one unit as groups of bars.
type chart struct {
	file, title, unit string
	columns           []*column
}

// charts are one for each group of several columns, and one for what is left of each unit.
func (s *section) charts() (list []*chart) {
	if !s.Peers {
		return nil
	}
	for _, g := range s.groups() {
		c := &chart{file: fileOf(s.Name, g.stem), title: strings.TrimSpace(s.Name + " " + g.stem), unit: g.columns[0].unit}
		if len(g.columns) == 1 {
			c.file, c.title = fileOf(s.Name, c.unit), s.Name
			i := slices.IndexFunc(list, func(have *chart) bool { return have.file == c.file })
			if i >= 0 {
				list[i].columns = append(list[i].columns, g.columns...)
				continue
			}
		}
		c.columns = g.columns
		list = append(list, c)
	}
	return slices.DeleteFunc(list, (*chart).empty)
}

// empty says that there is nothing to see: all are nothing.
func (c *chart) empty() bool { return c.most() == 0 }

func fileOf(row, what string) string {
	name := strings.Map(func(r rune) rune {
		if r == ' ' || r == '/' {
			return '_'
		}
		return r
	}, strings.TrimSpace(row+" "+what))
	return name + ".svg"
}

// each visits the cells, side by side within a column.
func (c *chart) each(visit func(column int, side string, one cell)) {
	for i, col := range c.columns {
		for _, side := range sidesOf(c.columns) {
			if one, ok := col.cells[side]; ok {
				visit(i, side, one)
			}
		}
	}
}

func (c *chart) most() (most float64) {
	c.each(func(_ int, _ string, one cell) { most = max(most, one.max) })
	return most
}

// least is the smallest of all, 0 where one is nothing.
func (c *chart) least() float64 {
	least := c.most()
	c.each(func(_ int, _ string, one cell) { least = min(least, one.min) })
	return max(0, least)
}

// save draws it. The sides give each its colour, the same in all charts.
func (c *chart) save(path string, sides []string) error {
	canvas := vgsvg.New(chartWidth, chartHeight)
	c.draw(draw.New(canvas), sides)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := canvas.WriteTo(f); err != nil {
		return err
	}
	return f.Close()
}

func (c *chart) draw(canvas draw.Canvas, sides []string) {
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	p := plot.New()
	p.Title.Text = c.title
	p.Y.Label.Text = strings.ReplaceAll(c.unit, "_", " ")
	p.Y.Min, p.Y.Max = 0, c.most()*1.05
	p.Y.Tick.Marker = ticks{plot.DefaultTicks{}}
	if least := c.least(); least > 0 && c.most() >= logarithmic*least {
		p.Y.Min, p.Y.Scale, p.Y.Tick.Marker = least/2, plot.LogScale{}, ticks{plot.LogTicks{Prec: -1}}
		p.Y.Label.Text += ", logarithmic"
	}
	p.NominalX(labels(c.columns)...)
	p.X.Min, p.X.Max = -0.5, float64(len(c.columns))-0.5
	p.Add(bars{c, sides, p.Y.Min})
	p.Draw(draw.Crop(canvas, 0, -legendWidth, 0, 0))
	legend := c.legend(sides)
	legend.Draw(draw.Crop(canvas, chartWidth-legendWidth, 0, 0, -vg.Centimeter))
}

func labels(columns []*column) (list []string) {
	for _, c := range columns {
		list = append(list, c.label)
	}
	return list
}

func (c *chart) legend(sides []string) plot.Legend {
	l := plot.NewLegend()
	l.Top, l.Left = true, true
	for _, side := range sidesOf(c.columns) {
		l.Add(" "+side, swatch{colourOf(side, sides)})
	}
	return l
}

// ticks have numbers that people read.
type ticks struct{ of plot.Ticker }

// Ticks implements plot.Ticker.
func (t ticks) Ticks(low, high float64) []plot.Tick {
	list := t.of.Ticks(low, high)
	for i := range list {
		if list[i].Label != "" {
			list[i].Label = number(list[i].Value)
		}
	}
	return list
}

// bars are those of all columns, each with the spread of its rounds.
type bars struct {
	*chart
	sides []string
	floor float64
}

// Plot implements plot.Plotter.
func (b bars) Plot(canvas draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&canvas)
	order := sidesOf(b.columns)
	width := 0.8 / float64(len(order))
	b.each(func(column int, side string, one cell) {
		left := float64(column) - 0.4 + width*float64(slices.Index(order, side))
		x0, x1, middle := toX(left), toX(left+width*0.85), toX(left+width*0.425)
		bottom, top := toY(b.floor), toY(max(one.value, b.floor))
		canvas.FillPolygon(colourOf(side, b.sides), []vg.Point{{X: x0, Y: bottom}, {X: x0, Y: top}, {X: x1, Y: top}, {X: x1, Y: bottom}})
		if one.max > one.min {
			line := draw.LineStyle{Color: color.Black, Width: vg.Points(0.7)}
			canvas.StrokeLine2(line, middle, toY(max(one.min, b.floor)), middle, toY(one.max))
		}
	})
}

// swatch is a colour in the legend.
type swatch struct{ of color.Color }

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.of, []vg.Point{{X: c.Min.X, Y: c.Min.Y}, {X: c.Min.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Max.Y}, {X: c.Max.X, Y: c.Min.Y}})
}

// colours are told apart by people who do not see all of them, and by their brightness.
var colours = []color.Color{
	color.RGBA{0x00, 0x3f, 0x88, 0xff},
	color.RGBA{0xe6, 0x9f, 0x00, 0xff},
	color.RGBA{0x56, 0xb4, 0xe9, 0xff},
	color.RGBA{0x00, 0x9e, 0x73, 0xff},
	color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	color.RGBA{0xd5, 0x5e, 0x00, 0xff},
	color.RGBA{0x99, 0x99, 0x99, 0xff},
	color.RGBA{0xf0, 0xe4, 0x42, 0xff},
}

// colourOf is that of a side: ours is the first one.
func colourOf(side string, sides []string) color.Color {
	return colours[max(0, slices.Index(sides, side))%len(colours)]
}
