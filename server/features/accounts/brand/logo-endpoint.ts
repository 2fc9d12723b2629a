// GET /f/logo/{hash}.png: the logo of a brand, for pages and mails. It is a cleaned PNG, and nothing else can be served.

import { pathOf } from '../../../http/request-path.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import { LOGO_PATH } from './brand.ts'

const FILE = /^([\da-f]{32})\.png$/

export const createLogoEndpoint =
  ({ db }: { db: Database }) =>
  async (request: Request): Promise<Response> => {
    const [, hash] = FILE.exec(pathOf(request.url).slice(LOGO_PATH.length)) ?? []
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return new Response(null, { status: 405, headers: { Allow: 'GET, HEAD' } })
    const logo = hash === undefined ? undefined : await findLogo(db, hash)
    if (!logo) return new Response('Not found\n', { status: 404 })
    return new Response(Buffer.from(logo.png, 'base64'), {
      headers: {
        'Content-Type': 'image/png',
        // The name is the hash of the content.
        'Cache-Control': 'public, max-age=31536000, immutable',
        'Content-Security-Policy': "default-src 'none'; sandbox",
        'X-Content-Type-Options': 'nosniff',
        'X-Robots-Tag': 'noindex',
        'Cross-Origin-Resource-Policy': 'cross-origin',
      },
    })
  }

/** Names no workspace: the hash is the public name of a picture that pages of the workspace show. */
const findLogo = (db: Database, hash: string) =>
  db.read
    .selectFrom('brand_logos')
    .innerJoin('workspaces', 'workspaces.id', 'brand_logos.workspace_id')
    .select('png')
    .where('hash', '=', hash)
    .where('workspaces.suspended_at', 'is', null)
    .executeTakeFirst()
