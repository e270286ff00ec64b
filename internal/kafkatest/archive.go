package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// A start loads some 9,000 classes, which takes most of its time. Java can keep them in an archive: a node then starts with half of
// the work. The archive is made once, by a node that starts for it, and lies beside the jars.

// classes is the archive that belongs to a folder of jars. An empty file says that this Java makes none.
func classes(lib string) string { return lib + ".jsa" }

// archiveFlags make a node use the archive. Java ignores one that another Java made, and the log says so.
func (n *Node) archiveFlags() []string {
	if n.dump != "" {
		return []string{"-XX:ArchiveClassesAtExit=" + n.dump}
	}
	if info, err := os.Stat(classes(n.lib)); err != nil || info.Size() == 0 {
		return nil
	}
	return []string{"-XX:SharedArchiveFile=" + classes(n.lib), "-Xlog:cds=off", "-Xlog:cds+dynamic=off"}
}

// archive runs a node that makes the archive when it ends. The caller holds the cache's lock.
func archive(ctx context.Context, version, lib string) error {
	nodes, err := layOut(Options{Version: version}, lib, 1)
	if err != nil {
		return errors.Join(err, closeAll(nodes))
	}
	n := nodes[0]
	defer n.Close()
	if err := n.format(ctx); err != nil {
		return err
	}
	n.dump = n.path("classes.jsa")
	if err := n.Start(ctx); err != nil {
		return fmt.Errorf("make the archive of classes: %w", err)
	}
	if err := errors.Join(n.touch(), n.Stop(ctx)); err != nil {
		return err
	}
	return keep(n.dump, classes(lib))
}

// touch makes the node load what a test will make it load.
func (n *Node) touch() error {
	const name = "warm-up"
	_, _, err := n.Committed(name, name, 0)
	return errors.Join(err, n.CreateTopic(name, 1), n.Produce(name, 0, name), n.Commit(name, name, 0, 1, ""), n.DeleteGroup(name), n.DeleteTopic(name))
}

// keep copies the archive to its place. The folder of the cache may be on another file system than the node's.
func keep(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	temp := to + ".new"
	if err := os.WriteFile(temp, data, 0o644); err != nil {
		return err
	}
	return os.Rename(temp, to)
}
