// Routes for exports: the links of a workspace, and the whole workspace (docs/contract.md §11).

import { apiRoute } from '../../http/api-route.ts'
import { EXPORT_MEDIA_TYPES, toFileNameHeader, toFileSchema } from '../../http/export-file.ts'
import { KEY_SCOPES } from '../../http/key-scope.ts'
import { sendFile } from '../../http/send-file.ts'
import { createExportLimiter } from '../../lib/concurrency/export-limiter.ts'
import { toUtcDay } from '../../lib/utc-day.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { recordExport } from '../accounts/audit/record-export.ts'
import { exportLinks } from './export/export-links.ts'
import { exportWorkspace, type WorkspaceExportNeeds } from './export/export-workspace.ts'
import { LinkExportQuery } from './export/schema.ts'

export type ExportApiNeeds = Omit<WorkspaceExportNeeds, 'db'>

const routes = {
  links: apiRoute({
    method: 'get',
    path: '/links/export',
    scope: 'links:read',
    operationId: 'exportLinks',
    tags: ['Links'],
    summary: 'Export links',
    description:
      'All links except those in the trash, oldest first, or those that pass the filters of the list. `POST /imports` with ' +
      '`source=towpath` takes the file back. In CSV, tags are one cell with commas (a comma in a name is `\\,`), targets ' +
      'are JSON, and text that a spreadsheet would take for a formula gets an apostrophe in front. No export has passwords.',
    request: { query: LinkExportQuery },
    responses: {
      200: {
        description: 'The file',
        headers: toFileNameHeader('The name of the file, with the workspace and the day'),
        content: {
          'text/csv': toFileSchema('id,slug,domain,shortUrl,destinationUrl,title,…'),
          'application/x-ndjson': toFileSchema('{"id":1,"slug":"spring-sale","domain":"go.example",…}'),
        },
      },
    },
  }),
  workspace: apiRoute({
    method: 'get',
    path: '/export',
    // Full access, because the file has the data of all of them.
    scope: KEY_SCOPES.filter((scope) => scope !== 'analytics:write'),
    operationId: 'exportWorkspace',
    tags: ['Import and export'],
    summary: 'Export the whole workspace',
    description:
      'One zip with links, tags, domains, forms, submissions, channels without their secrets, and all hits, as NDJSON. ' +
      '`manifest.json` has the SHA-256 of each file. An incomplete zip has no manifest and cannot be opened. ' +
      '`POST /imports` with `source=towpath` takes it back, on another server too. For owners, and keys with full access.',
    responses: {
      200: {
        description: 'The file',
        headers: toFileNameHeader('The name of the file, with the workspace and the day'),
        content: { 'application/zip': toFileSchema('PK…') },
      },
    },
  }),
}

/** A download ends after this time in which the client accepts no byte. */
const SENDING_IDLE_SECONDS = 30
/** Longer, because the hit engine writes a slice of the history before its first byte is sent. */
const WORKSPACE_IDLE_SECONDS = 120

export function createExportApi(needs: ExportApiNeeds) {
  const limiter = createExportLimiter()
  return createApi()
    .openapi(routes.links, async (c) => {
      const { format = 'csv', ...filters } = c.req.valid('query')
      const actor = c.get('actor')
      const withDb = { ...needs, db: c.get('db') }
      if (c.req.method !== 'HEAD') {
        // Without the values of filters, which can be personal data.
        const detail = { format, filters: Object.keys(filters).sort() }
        await recordExport(withDb, actor, { action: 'link.exported', detail })
      }
      c.env?.setIdleSeconds?.(SENDING_IDLE_SECONDS)
      const pieces = exportLinks(withDb, actor, { format, ...filters }, c.req.raw.signal)
      return sendFile(c, pieces, {
        'Content-Type': EXPORT_MEDIA_TYPES[format],
        'Content-Disposition': `attachment; filename=links-${toName(actor.workspaceId, needs.now())}.${format}`,
      })
    })
    .openapi(routes.workspace, async (c) => {
      const actor = c.get('actor')
      const withDb = { ...needs, db: c.get('db') }
      c.env?.setIdleSeconds?.(WORKSPACE_IDLE_SECONDS)
      const open = async () => {
        const pieces = await exportWorkspace(withDb, actor, c.req.raw.signal)
        if (c.req.method !== 'HEAD') await recordExport(withDb, actor, { action: 'workspace.exported' })
        return pieces
      }
      const pieces = await limiter.hold(actor.workspaceId, c.req.raw.signal, open)
      return sendFile(c, pieces, {
        'Content-Type': EXPORT_MEDIA_TYPES.zip,
        'Content-Disposition': `attachment; filename=towpath-${toName(actor.workspaceId, needs.now())}.zip`,
      })
    })
}

const toName = (workspaceId: number, now: number) => `${workspaceId}-${toUtcDay(now)}`
