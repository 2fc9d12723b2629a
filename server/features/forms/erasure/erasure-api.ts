// The REST routes for data subject requests: a copy of a person's data, its erasure, and the proof of it
// (docs/contract.md §13).

import { apiRoute, dataResponse, pageResponse } from '../../../http/api-route.ts'
import { EXPORT_MEDIA_TYPES, toFileNameHeader, toFileSchema } from '../../../http/export-file.ts'
import { sendFile } from '../../../http/send-file.ts'
import { createExportLimiter } from '../../../lib/concurrency/export-limiter.ts'
import { toUtcDay } from '../../../lib/utc-day.ts'
import { createApi } from '../../accounts/access/api-env.ts'
import { recordExport } from '../../accounts/audit/record-export.ts'
import { erasePerson, type PersonErasureNeeds } from './erase-person.ts'
import { listReceipts } from './erasure-receipt.ts'
import { exportPerson, type PersonExportNeeds } from './export-person.ts'
import { ErasureListQuery, ErasureShape, PersonQuery, ReceiptShape } from './schema.ts'

export type ErasureApiNeeds = Omit<PersonErasureNeeds & PersonExportNeeds, 'db'>

const submissions = { tags: ['Submissions'] }

const routes = {
  person: apiRoute({
    ...submissions,
    method: 'get',
    path: '/submissions/person',
    scope: 'submissions:read',
    operationId: 'exportPerson',
    summary: 'Export all that is stored of an email address',
    description:
      'One zip: `submissions.json` of all forms, with touches and consent; `deliveries.json`, the notifications and their times; the ' +
      'files that were sent; and `README.txt`, which says so. A submission is found where its field `email` is the address, ' +
      'or where it is the whole value of another field.',
    request: { query: PersonQuery },
    responses: {
      200: {
        description: 'The file',
        headers: toFileNameHeader('The name of the file, with the day'),
        content: { 'application/zip': toFileSchema('PK…') },
      },
    },
  }),
  erasures: apiRoute({
    ...submissions,
    method: 'get',
    path: '/submissions/erasures',
    scope: 'submissions:read',
    operationId: 'listErasures',
    summary: 'List the receipts of erasures, newest first',
    description:
      'They have no address. With `email`, those of the address: a proof that it was erased, and when.',
    request: { query: ErasureListQuery },
    responses: { 200: pageResponse(ReceiptShape, 'A page of receipts') },
  }),
  erase: apiRoute({
    ...submissions,
    method: 'delete',
    path: '/submissions',
    slow: true,
    scope: 'submissions:write',
    shows: 'any',
    operationId: 'eraseSubmissions',
    summary: 'Erase all that is stored of an email address',
    description:
      'Deletes its submissions in every form of the workspace, with their files, touches, notifications and replies. It ' +
      'finds what the export of a person finds. This cannot be undone. If the request is interrupted, send it again to ' +
      'delete the rest.',
    request: { query: PersonQuery },
    responses: { 200: dataResponse(ErasureShape, 'The erased data, and the receipt') },
  }),
}

/** Ends the response when the client reads no byte for this time; a search through a large workspace sends none. */
const IDLE_SECONDS = 120

export function createErasureApi(needs: ErasureApiNeeds) {
  const limiter = createExportLimiter()
  return createApi()
    .openapi(routes.person, async (c) => {
      const { email } = c.req.valid('query')
      const actor = c.get('actor')
      const { signal } = c.req.raw
      const withDb = { ...needs, db: c.get('db') }
      c.env?.setIdleSeconds?.(IDLE_SECONDS)
      const open = async () => {
        // Without the address.
        if (c.req.method !== 'HEAD')
          await recordExport(withDb, actor, { action: 'submission.person_exported' })
        return exportPerson(withDb, actor, email, signal)
      }
      const pieces = await limiter.hold(actor.workspaceId, signal, open)
      return sendFile(c, pieces, {
        'Content-Type': EXPORT_MEDIA_TYPES.zip,
        'Content-Disposition': `attachment; filename=person-${toUtcDay(needs.now())}.zip`,
      })
    })
    .openapi(routes.erasures, async (c) =>
      c.json(await listReceipts({ ...needs, db: c.get('db') }, c.get('actor'), c.req.valid('query')), 200),
    )
    .openapi(routes.erase, async (c) => {
      // A search through a large workspace sends nothing for longer than an idle connection may stay open.
      c.env?.setIdleSeconds?.(0)
      const { email } = c.req.valid('query')
      const data = await erasePerson({ ...needs, db: c.get('db') }, c.get('actor'), email)
      return c.json({ data }, 200)
    })
}
