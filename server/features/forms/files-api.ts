// The REST API of the files of submissions (docs/contract.md §13).

import { apiRoute, dataResponse, IdParameter, parseId } from '../../http/api-route.ts'
import { EXPORT_MEDIA_TYPES, toFileNameHeader, toFileSchema } from '../../http/export-file.ts'
import { sendFile } from '../../http/send-file.ts'
import { createApi } from '../accounts/access/api-env.ts'
import { getSubmission } from './submissions/get-submission.ts'
import type { SubmissionNeeds } from './submissions/submission.ts'
import {
  SENDING_IDLE_SECONDS,
  toAttachment,
  toFileResponse,
  UNTRUSTED_HEADERS,
} from './uploads/file-response.ts'
import { getFile, listStoredFiles } from './uploads/find-file.ts'
import { FilePreviewShape, previewFile } from './uploads/preview.ts'
import type { Uploads } from './uploads/uploads.ts'
import { zipSubmissionFiles } from './uploads/zip-submission-files.ts'

export interface FilesApiNeeds extends Omit<SubmissionNeeds, 'db'> {
  uploads: Pick<Uploads, 'store'>
}

const shared = {
  method: 'get' as const,
  scope: 'submissions:read' as const,
  tags: ['Submissions'],
  request: { params: IdParameter },
  fails: [404 as const],
}

const routes = {
  get: apiRoute({
    ...shared,
    path: '/files/{id}',
    operationId: 'getFile',
    summary: 'Download a file of a submission',
    description:
      'Always a download: no browser shows it or runs it under the address of this server. It takes `Range` with one ' +
      'range, and its `ETag` is the SHA-256 of the file. The file is gone with its submission.',
    responses: {
      200: {
        description: 'The file, as it was sent',
        headers: toFileNameHeader("The sender's name of the file"),
        content: { '*/*': toFileSchema('%PDF-1.7…') },
      },
      206: {
        description: 'The part of the file that `Range` names',
        content: { '*/*': toFileSchema('…') },
      },
      416: {
        description: '`Range` begins after the end of the file',
        content: { '*/*': toFileSchema('') },
      },
    },
  }),
  preview: apiRoute({
    ...shared,
    path: '/files/{id}/preview',
    operationId: 'previewFile',
    summary: 'Read the beginning of a text file',
    responses: { 200: dataResponse(FilePreviewShape, 'The preview') },
  }),
  zip: apiRoute({
    ...shared,
    path: '/submissions/{id}/files',
    operationId: 'getSubmissionFiles',
    summary: 'Download all files of a submission as one zip',
    description: 'Files with the same name get a number. The zip of a submission without files is empty.',
    responses: {
      200: {
        description: 'The zip',
        headers: toFileNameHeader('The name of the zip, with the id of the submission'),
        content: { 'application/zip': toFileSchema('PK…') },
      },
    },
  }),
}

export function createFilesApi(needs: FilesApiNeeds) {
  const { store } = needs.uploads
  return createApi()
    .openapi(routes.get, async (c) => {
      const { workspaceId } = c.get('actor')
      const file = await getFile(c.get('db').read, workspaceId, parseId(c.req.valid('param').id))
      c.env?.setIdleSeconds?.(SENDING_IDLE_SECONDS)
      const { body, status, headers } = await toFileResponse(store, file, c.req.raw)
      // With the headers that the gates have set.
      return c.body(body as never, status as 200, Object.fromEntries(headers)) as never
    })
    .openapi(routes.preview, async (c) => {
      const { workspaceId } = c.get('actor')
      const file = await getFile(c.get('db').read, workspaceId, parseId(c.req.valid('param').id))
      return c.json({ data: await previewFile(store, file) }, 200)
    })
    .openapi(routes.zip, async (c) => {
      const db = c.get('db')
      const actor = c.get('actor')
      const { id } = await getSubmission({ ...needs, db }, actor, parseId(c.req.valid('param').id))
      const zip = await zipSubmissionFiles(store, await listStoredFiles(db.read, actor.workspaceId, id))
      c.env?.setIdleSeconds?.(SENDING_IDLE_SECONDS)
      return sendFile(c, zip.pieces, {
        ...UNTRUSTED_HEADERS,
        'Content-Type': EXPORT_MEDIA_TYPES.zip,
        'Content-Disposition': toAttachment(`submission-${id}-files.zip`),
        'Content-Length': String(zip.bytes),
      })
    })
}
