// The signed-in user, their workspaces, and signing in and out.

import { queryOptions } from '@tanstack/react-query'
import type { MemberResource } from '../../server/features/accounts/schema.ts'
import { ApiError, type RequestOptions, request } from './client.ts'
import { followLanguage } from './language.ts'
import { leaveSession, waitForSignIn } from './session-gate.ts'

export interface User {
  id: number
  name: string
  email: string
  /** Whether the user has a second factor. */
  secondFactor: boolean
  /** null: the browser's. */
  language: string | null
}

export interface Workspace {
  id: number
  publicId: string
  name: string
  plan: string
  role: MemberResource['role']
  /** The person owns the first workspace of the installation. */
  operatesServer: boolean
  /** Members without a second factor are refused. */
  requireTwoFactor: boolean
  /** The query parameters that clicks keep. */
  keptParams: string[]
  /** The tags in the sidebar, by name. */
  pinnedTags: { id: number; name: string; color: string }[] | null
  createdAt: string
}

export interface SignInOptions {
  /** `setup`, `operator`: nobody has an account, and only the operator can make the first one. */
  signup: 'first' | 'setup' | 'operator' | 'invite' | 'open'
  demo?: true
  oidc: { name: string } | null
  /** Whether the server can send email. Without email, users cannot reset their own password. */
  mail: boolean
  /** Length limits of a new password. */
  password: { min: number; minWithSecondFactor: number; max: number }
}

export const askAuth = async <T>(path: string, call?: RequestOptions) =>
  (await request(`/api/auth${path}`, call)).json() as Promise<T>
export const postAuth = <T>(path: string, body?: unknown, call?: RequestOptions) =>
  askAuth<T>(path, { ...call, method: 'POST', body })

/** For a person who has not signed in yet. */
const ANONYMOUS = { anonymous: true }
const auth = <T>(path: string, call?: RequestOptions) => askAuth<T>(path, { ...call, ...ANONYMOUS })
const post = <T>(path: string, body: unknown = {}) => postAuth<T>(path, body, ANONYMOUS)

/** @returns null when nobody is signed in */
export const findUser = async () => (await auth<{ user: User } | null>('/get-session'))?.user ?? null

/** null when no user is signed in. If a session has ended, its user is asked to sign in again first. */
export const userQuery = queryOptions({
  queryKey: ['user'],
  queryFn: async ({ client, queryKey, signal }): Promise<User | null> => {
    const user = await findUser()
    const wasSignedIn = client.getQueryData(queryKey) != null
    // A later reload would lose what the person has typed.
    if (user && !wasSignedIn && followLanguage(user.language)) return new Promise(() => {})
    return user || !wasSignedIn || !(await waitForSignIn(true, signal)) ? user : findUser()
  },
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
interface SignUpInput {
  name: string
  email: string
  password: string
  /** One of these tokens lets a person sign up. */
  invitation?: string
  confirmation?: string
  setup?: string
}

export const signUp = (input: SignUpInput) => post('/sign-up/email', input)
/** Sends a link to the address. The answer is the same for an address that has an account. */
export const requestSignUp = (email: string) => post('/sign-up/request', { email })
/** @throws ApiError 404 for a link that is used or expired */
export const findSignUpEmail = (token: string) =>
  auth<{ email: string }>('/sign-up/confirmation', { query: { token } })
/** @throws ApiError 404 for a wrong token */
export const checkSetupToken = (token: string) => auth('/setup', { query: { token } })
export async function signOut() {
  const stay = leaveSession()
  await post('/sign-out').catch((error) => {
    stay()
    throw error
  })
}
export const requestPasswordReset = (email: string) => post('/request-password-reset', { email })
export const confirmEmail = (token: string) => post('/change-email/confirm', { token })
/** @returns the address of the page for a new password */
export const undoEmailChange = async (token: string) =>
  (await post<{ resetUrl: string }>('/change-email/undo', { token })).resetUrl
export const resetPassword = (input: { token: string; newPassword: string }) => post('/reset-password', input)

/** @returns the address of the identity provider, where the browser must go */
export const signInWithOidc = async (callbackURL: string, more: { confirm?: boolean; setup?: string } = {}) =>
  (await post<{ url: string }>('/sign-in/oauth2', { providerId: 'oidc', callbackURL, ...more })).url

/** For `refetchInterval`: repeats a query as long as the session lasts. */
export const pollEvery = (ms: number) => (query: { state: { error: Error | null } }) =>
  isSignedOut(query.state.error) ? false : ms

export const isSignedOut = (error: unknown) => error instanceof ApiError && error.status === 401
