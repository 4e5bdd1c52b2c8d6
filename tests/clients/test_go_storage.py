"""Go's client of Cloud Storage, built from Debian's source packages without a network."""

from pathlib import Path

import pytest

from tests.clients.installing import cache
from tests.clients.lane import asked, play, program
from tests.clients.outcomes import differences, expected, of_lines

pytestmark = asked

SOURCES = Path("/usr/share/gocode")
"""Where Debian puts the sources of packages such as golang-google-cloud-dev."""

PROGRAM = r"""
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"cloud.google.com/go/storage"
	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
)

func operation(name string, work func() error) {
	outcome := "passed"
	if err := work(); err != nil {
		outcome = err.Error()
	}
	line, _ := json.Marshal(map[string]string{"operation": name, "outcome": outcome})
	fmt.Println(string(line))
}

func write(ctx context.Context, object *storage.ObjectHandle, text string) error {
	writer := object.NewWriter(ctx)
	writer.ChunkSize = 256 * 1024
	if _, err := io.WriteString(writer, text); err != nil {
		return err
	}
	return writer.Close()
}

func read(ctx context.Context, object *storage.ObjectHandle, from, length int64) (string, error) {
	reader, err := object.NewRangeReader(ctx, from, length)
	if err != nil {
		return "", err
	}
	defer reader.Close()
	data, err := io.ReadAll(reader)
	return string(data), err
}

func same(got, wanted interface{}) error {
	if fmt.Sprint(got) != fmt.Sprint(wanted) {
		return fmt.Errorf("got %v, not %v", got, wanted)
	}
	return nil
}

func names(ctx context.Context, bucket *storage.BucketHandle, query *storage.Query) ([]string, error) {
	found := []string{}
	objects := bucket.Objects(ctx, query)
	for {
		object, err := objects.Next()
		if err == iterator.Done {
			sort.Strings(found)
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		found = append(found, object.Prefix+object.Name)
	}
}

func main() {
	ctx := context.Background()
	client, err := storage.NewClient(ctx)
	if err != nil {
		panic(err)
	}
	bucket := client.Bucket("from-go")
	large := strings.Repeat("0123456789", 100000)
	// Unless it is told the endpoint, this version makes its buckets at storage.googleapis.com, whatever
	// STORAGE_EMULATOR_HOST says.
	endpoint := option.WithEndpoint("http://" + os.Getenv("STORAGE_EMULATOR_HOST") + "/storage/v1/")
	making, err := storage.NewClient(ctx, endpoint)
	if err != nil {
		panic(err)
	}
	operation("make_a_bucket", func() error {
		attributes := &storage.BucketAttrs{Labels: map[string]string{"team": "eyes"}, Location: "EU"}
		if err := making.Bucket("from-go").Create(ctx, "demo-project", attributes); err != nil {
			return err
		}
		made, err := making.Bucket("from-go").Attrs(ctx)
		if err != nil {
			return err
		}
		return same(made.Labels["team"]+" "+made.Location, "eyes EU")
	})
	operation("write", func() error { return write(ctx, bucket.Object("a/é 1"), "weights") })
	operation("write_in_pieces", func() error { return write(ctx, bucket.Object("large"), large) })
	operation("read", func() error {
		text, err := read(ctx, bucket.Object("a/é 1"), 0, -1)
		if err != nil {
			return err
		}
		return same(text, "weights")
	})
	operation("read_a_range", func() error {
		text, err := read(ctx, bucket.Object("large"), 999995, 3)
		if err != nil {
			return err
		}
		return same(text, "567")
	})
	operation("only_where_nothing_is", func() error {
		err := write(ctx, bucket.Object("large").If(storage.Conditions{DoesNotExist: true}), "other")
		if err == nil || !strings.Contains(err.Error(), "412") {
			return fmt.Errorf("not refused: %v", err)
		}
		return nil
	})
	operation("what_is_not_there", func() error {
		if _, err := bucket.Object("nothing").Attrs(ctx); err != storage.ErrObjectNotExist {
			return fmt.Errorf("not missed: %v", err)
		}
		_, err := read(ctx, bucket.Object("nothing"), 0, -1)
		return same(err, storage.ErrObjectNotExist)
	})
	operation("list", func() error {
		found, err := names(ctx, bucket, &storage.Query{Delimiter: "/"})
		if err != nil {
			return err
		}
		return same(found, []string{"a/", "large"})
	})
	operation("update", func() error {
		changes := storage.ObjectAttrsToUpdate{Metadata: map[string]string{"step": "17"}}
		told, err := bucket.Object("large").Update(ctx, changes)
		if err != nil {
			return err
		}
		return same(told.Metadata["step"], "17")
	})
	operation("copy_and_compose", func() error {
		if _, err := bucket.Object("copy").CopierFrom(bucket.Object("a/é 1")).Run(ctx); err != nil {
			return err
		}
		parts := []*storage.ObjectHandle{bucket.Object("copy"), bucket.Object("a/é 1")}
		told, err := bucket.Object("both").ComposerFrom(parts...).Run(ctx)
		if err != nil {
			return err
		}
		return same(told.Size, 14)
	})
	operation("remove_everything", func() error {
		found, err := names(ctx, bucket, nil)
		if err != nil {
			return err
		}
		for _, name := range found {
			if err := bucket.Object(name).Delete(ctx); err != nil {
				return err
			}
		}
		return bucket.Delete(ctx)
	})
}
"""


def test_gos_storage_does_what_is_expected(cloud, home):
    """This version of 2020 wants STORAGE_EMULATOR_HOST without a scheme."""
    go = program("go", "golang-go")
    if not (SOURCES / "src/cloud.google.com/go/storage").exists():
        pytest.skip("Go's client is not installed: apt-get install golang-google-cloud-dev")
    (home / "main.go").write_text(PROGRAM)
    settings = {"GO111MODULE": "off", "GOPATH": str(SOURCES), "GOCACHE": str(cache() / "go"), "GOFLAGS": ""}
    built = play([go, "build", "-o", "operations", "main.go"], cloud, home, more=settings)
    assert built.returncode == 0, built.stderr
    host = cloud["STORAGE_EMULATOR_HOST"].removeprefix("http://")
    done = play([home / "operations"], cloud, home, more={"STORAGE_EMULATOR_HOST": host})
    assert differences(expected("go_storage"), of_lines(done.stdout)) == [], done.stderr
