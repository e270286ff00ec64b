package kafkatest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/evenkeel-go/evenkeel/internal/kafkatest/child"
)

var pom = template.Must(template.New("pom").Parse(`<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>evenkeel</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{{.}}</version></dependency>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{{.}}</version>
      <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
    </dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
`))

// edition tells folders of other poms apart.
const edition = ".1"

// jars returns the folder with the jars of a Kafka version, fetching them first if no run did so before. Any number of
// processes may ask at once: one fetches, into a folder that gets its name when it is complete.
func jars(ctx context.Context, version string) (string, error) {
	root, err := cacheRoot()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(root, version+edition)
	if exists(dir) && exists(classes(dir)) {
		return dir, nil
	}
	unlock, err := lock(ctx, filepath.Join(root, "lock")) // one lock for all versions: Maven's own repository bears one writer
	if err != nil {
		return "", err
	}
	defer unlock()
	if !exists(dir) {
		if err := fetch(ctx, version, root, dir); err != nil {
			return "", err
		}
	}
	if !exists(classes(dir)) {
		if err := archive(ctx, version, dir); ctx.Err() != nil {
			return "", err
		} // any other error: a start without the archive is only slower, and tries again to make it
	}
	return dir, nil
}

func cacheRoot() (string, error) {
	root := os.Getenv(EnvCache)
	if root == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no folder for Kafka's jars, set %s: %w", EnvCache, err)
		}
		root = filepath.Join(user, "evenkeel-kafka")
	}
	return root, os.MkdirAll(root, 0o755)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func fetch(ctx context.Context, version, root, dir string) error {
	temp, err := os.MkdirTemp(root, "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	var text strings.Builder
	if err := pom.Execute(&text, version); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(temp, "pom.xml"), []byte(text.String()), 0o644); err != nil {
		return err
	}
	cmd := exec.Command("mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib", "-DincludeScope=runtime")
	cmd.Dir = temp
	if out, err := child.Run(ctx, cmd, temp); err != nil {
		return fmt.Errorf("fetch the jars of Kafka %s with Maven: %w\n%s", version, err, tail(out))
	}
	return os.Rename(filepath.Join(temp, "lib"), dir)
}

// tail is the last part of a log, for an error message.
func tail(log []byte) []byte { return log[max(0, len(log)-4000):] }
