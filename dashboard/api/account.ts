// The signed-in person's own account: name, address, password and sessions.

import { queryOptions } from '@tanstack/react-query'
import { askAuth, postAuth } from './session.ts'
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

export const sessionsQuery = queryOptions({
  queryKey: ['sessions'],
  queryFn: () => askAuth<Session[]>('/list-sessions'),
})
export const endSession = (id: number) => postAuth('/revoke-session', { id })
export const endOtherSessions = () => postAuth('/revoke-other-sessions', {})
export const renameUser = (name: string) => postAuth('/update-user', { name })
/** @param language null: the browser's */
export const setUserLanguage = (language: string | null) => postAuth('/update-user', { language })
export const changePassword = (input: { currentPassword: string; newPassword: string }) =>
  postAuth('/change-password', { ...input, revokeOtherSessions: true })

export const changeEmail = (newEmail: string) => postAuth('/change-email', { newEmail })

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
  queryFn: () => askAuth<AccountDeletion>('/delete-account'),
})
/** @param email the address of the account, as a confirmation */
export async function deleteAccount(email: string) {
  await postAuth('/delete-account', { confirm: email })
  leaveSession()
}
