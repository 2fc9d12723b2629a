// The workspace, its members, invitations and API keys.

import type { z } from '@hono/zod-openapi'
import { queryOptions } from '@tanstack/react-query'
import type {
  InvitationResource,
  KeyResource,
  MemberResource,
  NewInvitationResource,
  NewKeyResource,
  UpdateWorkspace,
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
export const updateWorkspace = (api: Api, changes: z.input<typeof UpdateWorkspace>) =>
  api.patch<WorkspaceResource>('/workspace', changes)
export const deleteWorkspace = (api: Api, name: string) =>
  api.remove<WorkspaceResource>('/workspace', { query: { confirm: name } })
export async function createWorkspace(name: string): Promise<WorkspaceSummary> {
  const response = await request('/v1/workspaces', { method: 'POST', body: { name } })
  return ((await response.json()) as { data: WorkspaceSummary }).data
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
export const createKey = (
  api: Api,
  input: { name: string; scopes: readonly KeyResource['scopes'][number][]; expiresAt: string | null },
) => api.post<NewKeyResource>('/keys', input)
export const revokeKey = (api: Api, id: number) => api.remove<KeyResource>(`/keys/${id}`)
