package main

import (
	"context"

	sdk "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func signed(ctx context.Context, by caller) context.Context {
	if by.Username == "" {
		return ctx
	}
	credentials := sdk.BasicAuth{UserName: by.Username, Password: by.Password}
	return context.WithValue(ctx, sdk.ContextBasicAuth, credentials)
}
