// The REST API of the audit log (docs/contract.md §16). It is for owners, and for no API key: the log names people.

import { apiRoute, pageResponse } from '../../http/api-route.ts'
import { EXPORT_MEDIA_TYPES, toFileNameHeader, toFileSchema } from '../../http/export-file.ts'
import { sendFile } from '../../http/send-file.ts'
import { allow } from './access/actor.ts'
import { createApi } from './access/api-env.ts'
import { exportAudit, listAudit } from './audit/list-audit.ts'
import { recordExport } from './audit/record-export.ts'
import { AuditEventShape, AuditExportQuery, AuditListQuery } from './schema.ts'

const audit = { tags: ['Audit log'], by: 'member' as const }

const auditRoutes = {
  list: apiRoute({
    ...audit,
    method: 'get',
    path: '/audit',
    operationId: 'listAuditEvents',
    summary: 'List the events of the workspace, newest first',
    description:
      'For owners. Records changes of keys, members, channels and the workspace, deletions, exports, and who ' +
      'signed in. Events are kept for 180 days and cannot be changed. Filters can be combined.',
    request: { query: AuditListQuery },
    responses: { 200: pageResponse(AuditEventShape, 'A page of events') },
  }),
  export: apiRoute({
    ...audit,
    method: 'get',
    path: '/audit/export',
    operationId: 'exportAuditEvents',
    summary: 'Export the events of the workspace',
    description: 'For owners. The events up to now, oldest first, with the filters of the list.',
    request: { query: AuditExportQuery },
    responses: {
      200: {
        description: 'The file',
        headers: toFileNameHeader('File name with the id of the workspace'),
        content: {
          'text/csv': toFileSchema('id,at,actorType,actorId,actor,action,targetType,targetId,target,detail'),
          'application/x-ndjson': toFileSchema('{"id":1,"at":"2026-03-29T12:00:00.000Z","actor":{…},…}'),
        },
      },
    },
  }),
}

export const createAuditApi = ({ now }: { now: () => number }) =>
  createApi()
    .openapi(auditRoutes.list, async (c) => {
      const actor = c.get('actor')
      allow(actor, 'audit:read')
      return c.json(await listAudit({ db: c.get('db') }, actor.workspaceId, c.req.valid('query')), 200)
    })
    .openapi(auditRoutes.export, async (c) => {
      const actor = c.get('actor')
      allow(actor, 'audit:read')
      const { format = 'csv', ...selection } = c.req.valid('query')
      const needs = { db: c.get('db'), now }
      const { workspaceId } = actor
      const pieces = exportAudit(needs, workspaceId, { format, ...selection }, c.req.raw.signal)
      if (c.req.method !== 'HEAD')
        await recordExport(needs, actor, { action: 'audit.exported', detail: { format } })
      return sendFile(c, pieces, {
        'Content-Type': EXPORT_MEDIA_TYPES[format],
        'Content-Disposition': `attachment; filename=audit-${workspaceId}.${format}`,
        'Cache-Control': 'private, no-store',
      })
    })
