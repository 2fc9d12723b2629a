// Reads the logo of a workspace's brand.

import type { Connection } from '../../../storage/database/open-database.ts'
import { parseBrand } from './brand.ts'

/** @returns a cleaned PNG, or null where the brand has no logo */
export async function readWorkspaceLogo(read: Connection, workspaceId: number): Promise<Buffer | null> {
  const workspace = await read
    .selectFrom('workspaces')
    .select('brand')
    .where('id', '=', workspaceId)
    .executeTakeFirst()
  const hash = parseBrand(workspace?.brand ?? null).logo
  if (hash === null) return null
  const logo = await read
    .selectFrom('brand_logos')
    .select('png')
    .where('workspace_id', '=', workspaceId)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return logo ? Buffer.from(logo.png, 'base64') : null
}
