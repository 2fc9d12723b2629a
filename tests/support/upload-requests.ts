// Sends files to forms as browsers do, and reads the stored files.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { UploadSettings } from '../../server/features/forms/uploads/schema.ts'
import { MULTIPART_TYPE, nextSenderAddress, SCRIPT_HEADERS, type TestForm } from './form-requests.ts'
import { type HttpAnswer, readAnswer } from './server/http-call.ts'
import type { TestServer } from './world.ts'

export const MIB = 1024 * 1024

export const UPLOADS: UploadSettings = { maxFiles: 5, maxBytes: 10 * MIB, accept: [] }

export interface UploadPart {
  name: string
  /** A field's value. */
  value?: string
  /** The file's name as it goes over the wire, with its bytes; '' and no bytes where nothing was chosen. */
  file?: string
  bytes?: Uint8Array | string
  type?: string
}

export const toSha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

/** A body with the boundary of `MULTIPART_TYPE`. */
export function toUploadBody(parts: UploadPart[]): Buffer {
  const pieces = parts.flatMap(
    ({ name, value = '', file, bytes = '', type = 'application/octet-stream' }) => {
      const isFile = file !== undefined
      const head = isFile ? `; filename="${file}"\r\nContent-Type: ${type}` : ''
      return [
        Buffer.from(`--Bd\r\nContent-Disposition: form-data; name="${name}"${head}\r\n\r\n`),
        isFile ? Buffer.from(bytes as string) : Buffer.from(value),
        Buffer.from('\r\n'),
      ]
    },
  )
  return Buffer.concat([...pieces, Buffer.from('--Bd--\r\n')])
}

/** Posts fields and files as a script does, from a new address unless the headers set one. */
export async function uploadToForm(
  { origin }: { origin: string },
  form: { key: string },
  parts: UploadPart[],
  headers: Record<string, string> = {},
): Promise<HttpAnswer> {
  const response = await fetch(`${origin}/f/${form.key}`, {
    method: 'POST',
    body: toUploadBody(parts),
    redirect: 'manual',
    headers: {
      'X-Forwarded-For': nextSenderAddress(),
      'Content-Type': MULTIPART_TYPE,
      ...SCRIPT_HEADERS,
      ...headers,
    },
  })
  return readAnswer(response)
}

/** The files and drafts in a data directory, such as `2026-11-23/…`. */
export function listUploadedFiles(dataDir: string): string[] {
  const dir = join(dataDir, 'uploads')
  if (!existsSync(dir)) return []
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}

/** The rows of the files of a form's workspace, in the order of sending. */
export const listFileRows = ({ app }: TestServer, { workspaceId }: Pick<TestForm, 'workspaceId'>) =>
  app.db.read
    .selectFrom('submission_files')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .orderBy('id')
    .execute()
