// The signed-in person's own account: name, address, password and sessions.

import { queryOptions } from '@tanstack/react-query'
import { request } from './client.ts'
import { leaveSession } from './session-gate.ts'

export interface Session {
  id: number
  /** The session of this browser. */
  current: boolean
  /** For example `Firefox on macOS`. */
  browser: string
  createdAt: string
  lastUsedAt: string
}

const auth = (path: string, body: unknown) => request(`/api/auth${path}`, { method: 'POST', body })

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: async () => (await (await request('/api/auth/list-sessions')).json()) as Session[],
})
export const endSession = (id: number) => auth('/revoke-session', { id })
export const endOtherSessions = () => auth('/revoke-other-sessions', {})
export const renameUser = (name: string) => auth('/update-user', { name })
/** @param language null: the browser's */
export const setUserLanguage = (language: string | null) => auth('/update-user', { language })
export const changePassword = (input: { currentPassword: string; newPassword: string }) =>
  auth('/change-password', { ...input, revokeOtherSessions: true })

export const changeEmail = (newEmail: string) => auth('/change-email', { newEmail })

/**
 * Things that are deleted with the account, and workspaces that prevent the deletion because they would lose their
 * owner.
 */
export interface AccountDeletion {
  workspaces: { id: number; name: string }[]
  needOwner: { id: number; name: string }[]
}
export const accountDeletionQuery = queryOptions({
  queryKey: ['delete-account'],
  queryFn: async () => (await (await request('/api/auth/delete-account')).json()) as AccountDeletion,
})
/** @param email the address of the account, as a confirmation */
export async function deleteAccount(email: string) {
  await auth('/delete-account', { confirm: email })
  leaveSession()
}
