// The audit log of the workspace over the REST API.

import { infiniteQueryOptions } from '@tanstack/react-query'
import type { AuditEventResource } from '../../server/features/accounts/schema.ts'
import type { Api } from './client.ts'
import { inPages } from './pages.ts'

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
    ...inPages<AuditEventResource>(api, '/audit', { ...filter, limit: 50 }),
  })

export const exportAudit = (api: Api, filter: AuditFilter, format: 'csv' | 'ndjson') =>
  api.file('/audit/export', { ...filter, format })
