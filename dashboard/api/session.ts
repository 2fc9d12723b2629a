// The signed-in user, their workspaces, and signing in and out.

import { queryOptions } from '@tanstack/react-query'
import { ApiError, type RequestOptions, request } from './client.ts'

export interface User {
  id: number
  name: string
  email: string
  /** Whether the user has a second factor. */
  secondFactor: boolean
}

export interface Workspace {
  id: number
  publicId: string
  name: string
  plan: string
  role: 'owner' | 'member'
  /** Members without a second factor are refused. */
  requireTwoFactor: boolean
}

export interface SignInOptions {
  signup: 'first' | 'invite' | 'open'
  oidc: { name: string } | null
  /** Whether the server can send e-mail. Without e-mail, users cannot reset their own password. */
  mail: boolean
}

const auth = async <T>(path: string, call?: RequestOptions) =>
  (await request(`/api/auth${path}`, call)).json() as Promise<T>
const post = <T>(path: string, body: unknown = {}) => auth<T>(path, { method: 'POST', body })

/** null when no user is signed in. */
export const userQuery = queryOptions({
  queryKey: ['user'],
  queryFn: async () => (await auth<{ user: User } | null>('/get-session'))?.user ?? null,
  staleTime: 60_000,
})

export const workspacesQuery = queryOptions({
  queryKey: ['workspaces'],
  queryFn: async () => {
    const response = await request('/v1/workspaces', { query: { limit: 100 } })
    return ((await response.json()) as { data: Workspace[] }).data
  },
  staleTime: 60_000,
})

export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: () => auth<SignInOptions>('/options'),
  staleTime: 60_000,
})

/** `secondFactor`: the sign-in waits for a second step. */
export const signIn = (input: { email: string; password: string }) =>
  post<{ secondFactor?: boolean }>('/sign-in/email', input)
export const signUp = (input: { name: string; email: string; password: string; invitation?: string }) =>
  post('/sign-up/email', input)
export const signOut = () => post('/sign-out')
export const requestPasswordReset = (email: string) => post('/request-password-reset', { email })
export const confirmEmail = (token: string) => post('/change-email/confirm', { token })
/** @returns the address of the page for a new password */
export const undoEmailChange = async (token: string) =>
  (await post<{ resetUrl: string }>('/change-email/undo', { token })).resetUrl
export const resetPassword = (input: { token: string; newPassword: string }) => post('/reset-password', input)

/** @returns the address of the identity provider, where the browser must go */
export const signInWithOidc = async (callbackURL: string, { confirm = false } = {}) =>
  (await post<{ url: string }>('/sign-in/oauth2', { providerId: 'oidc', callbackURL, confirm })).url

export const isSignedOut = (error: unknown) => error instanceof ApiError && error.status === 401
