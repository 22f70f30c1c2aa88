package main

import (
	"context"

	sdk "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func signed(ctx context.Context, by caller) context.Context {
	if by.Token == "" {
		return ctx
	}
	return context.WithValue(ctx, sdk.ContextAccessToken, by.Token)
}
