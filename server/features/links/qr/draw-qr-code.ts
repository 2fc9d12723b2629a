// Draws the QR code of a link with the logo that was asked for.

import { invalid } from '../../../lib/failure.ts'
import { toShortUrl } from '../../../lib/web-url.ts'
import type { Database } from '../../../storage/database/open-database.ts'
import type { Actor } from '../../accounts/access/actor.ts'
import { readWorkspaceLogo } from '../../accounts/brand/read-workspace-logo.ts'
import { renderQrCode } from './qr-code.ts'
import type { QrOptions } from './schema.ts'

interface Drawing extends QrOptions {
  /** `brand`, or a cleaned PNG. */
  logo?: 'brand' | Buffer | null
}

/** @throws Failure `invalid`, also for a workspace without a logo */
export async function drawQrCode(
  { db, site }: { db: Pick<Database, 'read'>; site: { origin: string } },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  link: { slug: string; domain: string },
  { logo, ...options }: Drawing,
): ReturnType<typeof renderQrCode> {
  const png = logo === 'brand' ? await readWorkspaceLogo(db.read, workspaceId) : logo
  if (png === null && logo === 'brand')
    throw invalid({ logo: 'is not there: the workspace has no logo. Set one in its settings, under Brand' })
  return renderQrCode(toShortUrl(site, link), options, png ?? undefined)
}
