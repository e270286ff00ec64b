package nemesis_test

import (
	"os"
	"strings"
	"testing"

	"github.com/evenkeel-go/evenkeel/chaos/nemesis"
)

func TestTheReadmeNamesAllFaults(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range nemesis.Names() {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("no %s", name)
		}
	}
}
