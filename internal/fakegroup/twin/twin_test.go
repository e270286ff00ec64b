package twin_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/evenkeel-go/evenkeel/internal/fakegroup/twin"
)

func TestFakegroupIsLikeSaramaOnKafka(t *testing.T) {
	for _, sc := range twin.Scenarios() {
		t.Run(sc.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, want := sc.Run(twin.InMemory(), "requests"), sc.Recorded()
				if !slices.Equal(got, want) {
					t.Errorf("fakegroup\n  %s\nsarama on Kafka\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
				}
			})
		})
	}
}
