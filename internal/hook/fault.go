package hook

import (
	"fmt"
	"reflect"
	"strings"
)

// Fault says what is wrong with a hook, to be read after its place in the list: it would be called for nothing, or not for all that its
// methods promise. kinds are interfaces of one method each; example is what to propose.
func Fault(v any, kinds []reflect.Type, example string) string {
	if v == nil {
		return "is nil: remove it"
	}
	heard, t := false, reflect.TypeOf(v)
	for _, kind := range kinds {
		if heard = heard || t.Implements(kind); t.Implements(kind) {
			continue
		}
		if what := misfit(t, kind); what != "" {
			return fmt.Sprintf("is a %v: %s", t, what)
		}
	}
	if !heard {
		return fmt.Sprintf("is a %v, which implements no hook interface: give it the method of one, %s for example", t, example)
	}
	return ""
}

// misfit finds a method that has the name of a hook's, and is none.
func misfit(t, kind reflect.Type) string {
	want := kind.Method(0)
	if t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(kind) {
		return fmt.Sprintf("its %s has a pointer as receiver; pass a pointer to it", want.Name)
	}
	have, ok := t.MethodByName(want.Name)
	if !ok {
		return ""
	}
	return fmt.Sprintf("it has %s; %s wants %s", signature(have.Name, have.Type, 1), kind.Name(), signature(want.Name, want.Type, 0))
}

// signature writes a method as its declaration does, without the first parameters.
func signature(name string, f reflect.Type, without int) string {
	var in, out []string
	for p := range f.Ins() {
		in = append(in, p.String())
	}
	for r := range f.Outs() {
		out = append(out, r.String())
	}
	s := name + "(" + strings.Join(in[without:], ", ") + ")"
	switch len(out) {
	case 0:
		return s
	case 1:
		return s + " " + out[0]
	}
	return s + " (" + strings.Join(out, ", ") + ")"
}
