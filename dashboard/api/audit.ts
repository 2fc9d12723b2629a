// The audit log of the workspace over the REST API.

import { infiniteQueryOptions } from '@tanstack/react-query'
import type { AuditEventResource } from '../../server/features/accounts/schema.ts'
import type { Api, ResultPage } from './client.ts'

export type { AuditEventResource }

export interface AuditFilter {
  action?: string
  actor?: string
  start?: string
  end?: string
}

export const auditQuery = (api: Api, filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: [api.workspaceId, 'audit', filter],
    queryFn: ({ pageParam, signal }) =>
      api.page<AuditEventResource>('/audit', {
        query: { ...filter, limit: 50, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }: ResultPage<AuditEventResource>) => nextCursor ?? undefined,
  })

export async function exportAudit(api: Api, filter: AuditFilter, format: 'csv' | 'ndjson') {
  const response = await api.raw('/audit/export', { query: { ...filter, format } })
  return { file: await response.blob(), name: `audit-${api.workspaceId}.${format}` }
}
