// Package validator stands for gopkg.in/validator.v2, of which Debian has only a version that is
// older than the required version and rejects numbers and texts. It checks nothing.
package validator

func Validate(v any) error {
	return nil
}
