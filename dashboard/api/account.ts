// The signed-in person's own account: name, password and sessions.

import { queryOptions } from '@tanstack/react-query'
import { request } from './client.ts'

export interface Session {
  id: number
  /** The session of this browser. */
  current: boolean
  userAgent: string | null
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
export const changePassword = (input: { currentPassword: string; newPassword: string }) =>
  auth('/change-password', { ...input, revokeOtherSessions: true })
