// Changes the brand of a workspace or a form, and keeps the pictures that some brand of the workspace names.

import { createHash } from 'node:crypto'
import { invalid } from '../../../lib/failure.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { type Brand, LOGO_PATH, parseBrand } from './brand.ts'
import type { BrandInputValues } from './schema.ts'

interface BrandChange {
  workspaceId: number
  /** The stored column. */
  before: string | null
  /** undefined keeps it, null clears it. */
  input: BrandInputValues | null | undefined
  at: number
}

/** @returns the column; undefined where it stays as it is @throws Failure `invalid` for the address of another picture */
export async function storeBrand(
  connection: Connection,
  { workspaceId, before, input, at }: BrandChange,
): Promise<string | null | undefined> {
  if (input === undefined) return undefined
  if (input === null) return null
  const { logo, ...texts } = input
  const brand: Brand = { ...parseBrand(before), ...pickDefined(texts) }
  if (logo === null) brand.logo = null
  else if (logo?.kept !== undefined) {
    if (brand.logo === null || !logo.kept.endsWith(`${LOGO_PATH}${brand.logo}.png`))
      throw invalid({ 'brand.logo': 'must be a PNG as a data URL, or the address of the stored picture' })
  } else if (logo?.png) brand.logo = await storeLogo(connection, workspaceId, logo.png, at)
  return Object.values(brand).every((value) => value === null) ? null : JSON.stringify(brand)
}

async function storeLogo(
  connection: Connection,
  workspaceId: number,
  png: Buffer,
  at: number,
): Promise<string> {
  const hash = createHash('sha256').update(png).digest('hex').slice(0, 32)
  await connection
    .insertInto('brand_logos')
    .values({ workspace_id: workspaceId, hash, png: png.toString('base64'), created_at: at })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'hash']).doNothing())
    .execute()
  return hash
}

/** Call it after the change is stored. */
export async function deleteUnusedLogos(connection: Connection, workspaceId: number): Promise<void> {
  const rows = [
    ...(await connection.selectFrom('workspaces').select('brand').where('id', '=', workspaceId).execute()),
    ...(await connection
      .selectFrom('forms')
      .select('brand')
      .where('workspace_id', '=', workspaceId)
      .where('brand', 'is not', null)
      .execute()),
  ]
  const used = rows.flatMap(({ brand }) => parseBrand(brand).logo ?? [])
  await connection
    .deleteFrom('brand_logos')
    .where('workspace_id', '=', workspaceId)
    .where('hash', 'not in', [...used, ''])
    .execute()
}

const pickDefined = <T extends object>(object: T) =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<Brand>
