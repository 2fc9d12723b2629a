// The workspace, its people and its keys; and the own account.

import { queryOptions } from '@tanstack/react-query'
import type {
  InvitationResource,
  KeyResource,
  MemberResource,
  NewInvitationResource,
  NewKeyResource,
  WorkspaceResource,
  WorkspaceSummary,
} from '../../server/features/accounts/schema.ts'
import { type Api, request } from './client.ts'

export type { InvitationResource, KeyResource, MemberResource, NewInvitationResource, NewKeyResource }

export const workspaceQuery = (api: Api) =>
  queryOptions({
    queryKey: [api.workspaceId, 'workspace'],
    queryFn: ({ signal }) => api.get<WorkspaceResource>('/workspace', { signal }),
  })
export const renameWorkspace = (api: Api, name: string) =>
  api.patch<WorkspaceResource>('/workspace', { name })
export const deleteWorkspace = (api: Api, name: string) =>
  api.remove<WorkspaceResource>('/workspace', { query: { confirm: name } })
export async function createWorkspace(name: string): Promise<WorkspaceSummary> {
  const answer = await request('/v1/workspaces', { method: 'POST', body: { name } })
  return ((await answer.json()) as { data: WorkspaceSummary }).data
}

const listQuery = <T>(api: Api, path: string, name: string) =>
  queryOptions({
    queryKey: [api.workspaceId, name],
    queryFn: ({ signal }) => api.page<T>(path, { query: { limit: 100 }, signal }),
  })

export const membersQuery = (api: Api) => listQuery<MemberResource>(api, '/members', 'members')
export const changeRole = (api: Api, userId: number, role: MemberResource['role']) =>
  api.patch<MemberResource>(`/members/${userId}`, { role })
export const removeMember = (api: Api, userId: number) => api.remove<MemberResource>(`/members/${userId}`)

export const invitationsQuery = (api: Api) =>
  listQuery<InvitationResource>(api, '/invitations', 'invitations')
export const invite = (api: Api, input: { email: string; role: MemberResource['role'] }) =>
  api.post<NewInvitationResource>('/invitations', input)
export const revokeInvitation = (api: Api, id: number) => api.remove<InvitationResource>(`/invitations/${id}`)

export const keysQuery = (api: Api) => listQuery<KeyResource>(api, '/keys', 'keys')
export const createKey = (api: Api, name: string) => api.post<NewKeyResource>('/keys', { name })
export const revokeKey = (api: Api, id: number) => api.remove<KeyResource>(`/keys/${id}`)

export interface Session {
  id: number
  /** The one that asks. */
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
