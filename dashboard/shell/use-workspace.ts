// The workspace in the address, and its API client.

import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { createWorkspaceApi } from '../api/client.ts'
import { workspacesQuery } from '../api/session.ts'

export function useApi() {
  const { workspaceId } = useParams({ strict: false })
  return useMemo(() => createWorkspaceApi(Number(workspaceId)), [workspaceId])
}

/** undefined when the user is not a member of the workspace in the address. */
export function useOptionalWorkspace() {
  const { workspaceId } = useParams({ strict: false })
  const { data } = useSuspenseQuery(workspacesQuery)
  return data.find(({ id }) => String(id) === workspaceId)
}

/** The installation's first workspace, where the user owns it: such owners see the server's health from anywhere. */
export function useOperatedWorkspace() {
  const { data } = useSuspenseQuery(workspacesQuery)
  return data.find(({ operatesServer }) => operatesServer)
}

/** false for a viewer, who can change nothing in the workspace. */
export const useCanEdit = () => useOptionalWorkspace()?.role !== 'viewer'

/**
 * The workspace in the address.
 * @throws when the user is not a member: the shell shows the not-found page before that
 */
export function useWorkspace() {
  const workspace = useOptionalWorkspace()
  if (!workspace) throw new Error('this page is inside a workspace')
  return workspace
}
