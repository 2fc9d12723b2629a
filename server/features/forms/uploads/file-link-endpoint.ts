// GET /f/files/{token}, open to everybody who has the link: a file of a submission, from a notification.

import { html } from 'hono/html'
import { renderHtmlPage, wantsJson } from '../../../http/html-page.ts'
import { requestId } from '../../../http/request-id.ts'
import { pathOf } from '../../../http/request-path.ts'
import type { ServerHandle } from '../../../http/server-handle.ts'
import { Failure } from '../../../lib/failure.ts'
import { describeError, log } from '../../../lib/log.ts'
import { describeRequest } from '../../../lib/telemetry/request-context.ts'
import { toFailure } from '../../../storage/database/errors.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { FileStore } from '../../../storage/files/file-store.ts'
import { FILE_LINK_PATH, type FileLinks } from './file-links.ts'
import { SENDING_IDLE_SECONDS, toFileResponse } from './file-response.ts'
import { findFileByKey } from './find-file.ts'

export interface FileLinkNeeds {
  db: Database
  uploads: { store: Pick<FileStore, 'read'>; links: FileLinks }
  now: () => number
}

interface Refusal {
  status: number
  title: string
  text: string
  headers?: Record<string, string>
}

const UNKNOWN: Refusal = {
  status: 404,
  title: 'File not found',
  text: 'This link is incomplete. Copy the whole link from the notification.',
}
const EXPIRED: Refusal = {
  status: 410,
  title: 'This link has expired',
  text: 'Links to files work for seven days. Sign in and open the submission to get the file.',
}
const GONE: Refusal = {
  status: 410,
  title: 'This file was deleted',
  text: 'It was deleted together with its submission.',
}
const UNAVAILABLE: Refusal = {
  status: 503,
  title: 'Please try again in a moment',
  text: 'The file cannot be read right now.',
  headers: { 'Retry-After': '30' },
}
const WRONG_METHOD: Refusal = {
  status: 405,
  title: 'This is the address of a file',
  text: 'Open it in a browser to download the file.',
  headers: { Allow: 'GET, HEAD' },
}

export function createFileLinkEndpoint(needs: FileLinkNeeds) {
  return async (request: Request, server: Pick<ServerHandle, 'timeout'>): Promise<Response> => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(request, WRONG_METHOD)
    const token = pathOf(request.url).slice(`/f${FILE_LINK_PATH}`.length)
    const link = needs.uploads.links.readToken(token)
    if (!link) return refuse(request, UNKNOWN)
    if (link.expiresAt <= needs.now()) return refuse(request, EXPIRED)
    try {
      const file = await findFileByKey(needs.db.read, link.key)
      if (!file) return refuse(request, GONE)
      describeRequest({ workspaceId: file.workspace_id })
      // The operator has suspended this workspace's public pages.
      if (file.suspended_at !== null) return refuse(request, UNKNOWN)
      server.timeout(request, SENDING_IDLE_SECONDS)
      return await toFileResponse(needs.uploads.store, file, request)
    } catch (thrown) {
      return refuse(request, toRefusal(thrown, requestId(request.headers.get('x-request-id'))))
    }
  }
}

function toRefusal(thrown: unknown, id: string): Refusal {
  const failure = toFailure(thrown)
  if (failure instanceof Failure && failure.code === 'not_found') return GONE
  if (failure instanceof Failure && failure.code === 'unavailable') {
    log.error('store_unavailable', { requestId: id, ...describeError(failure.detail.cause) })
    return UNAVAILABLE
  }
  throw thrown
}

function refuse({ headers: asked }: Request, { status, title, text, headers = {} }: Refusal) {
  if (wantsJson(asked.get('accept'))) return Response.json({ error: text }, { status, headers })
  return renderHtmlPage(status, title, html`<h1>${title}</h1>\n<p>${text}</p>`, headers)
}
