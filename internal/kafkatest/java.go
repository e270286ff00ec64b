package kafkatest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Environment variables that the real brokers heed.
const (
	// EnvMode says what tests do about a real Kafka: "auto" or unset uses it if Java and Maven are there and skips what needs
	// it otherwise, "require" makes their absence a failure, "off" skips in any case.
	EnvMode = "EVENKEEL_KAFKA"
	// EnvCache is the folder that keeps Kafka's jars between runs. Default: evenkeel-kafka in the user's cache folder.
	EnvCache = "EVENKEEL_KAFKA_CACHE"
)

// ErrUnavailable is why a real Kafka cannot be started here. Its text says what to install.
var (
	ErrUnavailable = errors.New("the real-Kafka suites did not run")
	errOff         = errors.New(EnvMode + "=off")
)

// Available returns nil if a real Kafka can be started here, and else an ErrUnavailable that says what to install.
// It looks for the programs only: the first start needs the network for the jars.
func Available() error {
	switch os.Getenv(EnvMode) {
	case "", "auto", "require":
	case "off":
		return fmt.Errorf("%w: %w", ErrUnavailable, errOff)
	default:
		return fmt.Errorf("%w: %s=%q, want auto, require or off", ErrUnavailable, EnvMode, os.Getenv(EnvMode))
	}
	if err := supported(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	var missing []string
	if _, err := java(); err != nil {
		missing = append(missing, "java")
	}
	if _, err := exec.LookPath("mvn"); err != nil {
		missing = append(missing, "mvn")
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: no %s here: install Java 17 and Maven (Debian: openjdk-17-jre-headless maven)", ErrUnavailable, strings.Join(missing, " and no "))
	}
	return nil
}

// Required says whether a missing Kafka is a failure. So is a value of [EnvMode] that means nothing: a typo must not switch
// tests off.
func Required() bool {
	switch os.Getenv(EnvMode) {
	case "", "auto", "off":
		return false
	default:
		return true
	}
}

// java is the path of the Java program: JAVA_HOME's, else the first on the PATH.
func java() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		return exec.LookPath(filepath.Join(home, "bin", "java"))
	}
	return exec.LookPath("java")
}
