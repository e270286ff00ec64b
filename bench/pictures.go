package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/evenkeel-go/evenkeel/bench/peers"
	"github.com/evenkeel-go/evenkeel/bench/picture"
)

// The pictures show the same planned changes under three ways of balancing, each in a run of its own: tasks of 12 s on the first partition to
// 22 s on the last, so that they do not end at the same time.
const (
	picturePartitions = 6
	pictureFirst      = 12 * time.Second
	pictureStep       = 2 * time.Second
	pictureMost       = time.Minute // what the sides are told of the longest: too long for a rebalance to wait for
	pictureLasts      = 70 * time.Second
)

// pictureSides are what is drawn, one below the other.
var pictureSides = []struct{ peer, title string }{
	{"evenkeel", "evenkeel: running tasks keep their partition"},
	{"evenkeel_sticky", "the same with cooperative-sticky: partitions move in the middle of tasks, which are run again"},
	{"sarama_blocking", "sarama's example handler with its defaults: a rebalance waits for what runs, for as long as it may"},
}

// scenes are what happens to a group.
var scenes = []struct {
	file, title string
	play        func(a *act) error
}{
	{"scale-up.svg", "Two members join one that is busy", scaleUp},
	{"deployment.svg", "A deployment replaces three members, one by one", deployment},
}

// draw makes all pictures, in a folder.
func draw(l *lab, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, s := range scenes {
		var panels []picture.Panel
		for _, side := range pictureSides {
			p, err := l.play(side.peer, side.title, s.play)
			if err != nil {
				return fmt.Errorf("%s of %s: %w", s.title, side.peer, err)
			}
			panels = append(panels, p)
		}
		if err := save(filepath.Join(folder, s.file), s.title, panels); err != nil {
			return err
		}
	}
	return nil
}

func save(path, title string, panels []picture.Panel) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Println(path)
	return picture.Draw(f, title, panels)
}

// act is a run that is drawn.
type act struct {
	*stage
	changes []picture.Change
}

func (l *lab) play(peer, title string, play func(*act) error) (picture.Panel, error) {
	f, err := l.filled(fill{partitions: picturePartitions, messages: picturePartitions * 100, keys: 10, turns: true, bytes: 16})
	if err != nil {
		return picture.Panel{}, err
	}
	settings := peers.Settings{Order: peers.ByPartition, Slots: picturePartitions, Task: pictureFirst, Longest: pictureMost, Grace: wasteGrace}
	a := &act{stage: l.stage(spec{Peer: peer, Settings: settings, Sleep: pictureFirst, Step: pictureStep}, f)}
	defer a.end()
	if _, _, err := a.begin(); err != nil {
		return picture.Panel{}, err
	}
	from := time.Now()
	if err := play(a); err != nil {
		return picture.Panel{}, err
	}
	if err := l.sleep(pictureLasts - time.Since(from)); err != nil {
		return picture.Panel{}, err
	}
	return picture.Panel{Title: title, Runs: a.runs(), From: from, To: time.Now(), Partitions: picturePartitions, Changes: a.changes}, nil
}

func (a *act) note(format string, args ...any) {
	a.changes = append(a.changes, picture.Change{At: time.Now(), Text: fmt.Sprintf(format, args...)})
}

// comes lets a member join.
func (a *act) comes() error {
	a.note("member %d joins", len(a.members))
	_, _, err := a.join()
	return err
}

func scaleUp(a *act) error {
	for range 2 {
		if err := a.lab.sleep(8 * time.Second); err != nil {
			return err
		}
		if err := a.comes(); err != nil {
			return err
		}
	}
	return nil
}

func deployment(a *act) error {
	for range 2 {
		if err := a.comes(); err != nil {
			return err
		}
	}
	for i := range 3 {
		if err := a.lab.sleep(15 * time.Second); err != nil {
			return err
		}
		a.note("member %d stops", i)
		a.members[i].leave()
		if err := a.comes(); err != nil {
			return err
		}
	}
	return nil
}
