package nemesis

import "github.com/evenkeel-go/evenkeel/chaos/ledger"

// ClassOf opens the class of a nemesis to the tests.
func ClassOf(name string) ledger.Class { return all[name].class }
