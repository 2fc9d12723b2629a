// The workspace of the page, and the API as it sees it.

import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMemo } from 'react'
import { createWorkspaceApi } from '../api/client.ts'
import { workspacesQuery } from '../api/session.ts'

/** The API for the workspace in the address. */
export function useApi() {
  const { workspaceId } = useParams({ strict: false })
  return useMemo(() => createWorkspaceApi(Number(workspaceId)), [workspaceId])
}

/** undefined where the person is no member of it. */
export function useOptionalWorkspace() {
  const { workspaceId } = useParams({ strict: false })
  const { data } = useSuspenseQuery(workspacesQuery)
  return data.find(({ id }) => String(id) === workspaceId)
}

export function useWorkspace() {
  const workspace = useOptionalWorkspace()
  if (!workspace) throw new Error('this page is inside a workspace')
  return workspace
}
