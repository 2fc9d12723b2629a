// The brand of a workspace, which a form may change in parts: what pages show of it, and how mails to senders carry it.

import type { PageBrand } from '../../../http/page-brand.ts'
import { describeError, log } from '../../../lib/log.ts'
import type { Connection } from '../../../storage/database/open-database.ts'
import { toLighter } from './contrast.ts'
import type { BrandResource } from './schema.ts'

/** The stored form. `logo` is the hash that names the picture. */
export type Brand = Record<keyof BrandResource, string | null>

export const LOGO_PATH = '/f/logo/'

const NO_BRAND: Brand = { name: null, logo: null, color: null, senderName: null, replyTo: null, footer: null }

/** @param json of the column `brand` */
export const parseBrand = (json: string | null): Brand =>
  json === null ? NO_BRAND : { ...NO_BRAND, ...JSON.parse(json) }

/** The form's own values, and the workspace's for the others. */
export function mergeBrands(form: string | null, workspace: string | null): Brand {
  const own = Object.entries(parseBrand(form)).filter(([, value]) => value !== null)
  return { ...parseBrand(workspace), ...Object.fromEntries(own) }
}

export const toLogoPath = (hash: string) => `${LOGO_PATH}${hash}.png`

export function toBrandResource(origin: string, json: string | null): BrandResource {
  const brand = parseBrand(json)
  return { ...brand, logo: brand.logo && origin + toLogoPath(brand.logo) }
}

/** @returns undefined where pages have nothing of it */
export function toPageBrand({ name, logo, color, footer }: Brand): PageBrand | undefined {
  if (name === null && logo === null && color === null && footer === null) return undefined
  return {
    name,
    logo: logo && toLogoPath(logo),
    color: color === null ? null : { light: color, dark: toLighter(color) },
    footer,
  }
}

/** The brand on a page without a form. Without the database, a page has none: it must be shown all the same. */
export async function readPageBrand(
  read: Connection,
  workspaceId: number | null | undefined,
): Promise<PageBrand | undefined> {
  if (!workspaceId) return undefined
  try {
    const row = await read
      .selectFrom('workspaces')
      .select('brand')
      .where('id', '=', workspaceId)
      .executeTakeFirst()
    return row && toPageBrand(parseBrand(row.brand))
  } catch (error) {
    log.warn('brand_not_read', describeError(error))
    return undefined
  }
}

/** How a mail to a sender carries the brand. */
export interface MailBrand {
  senderName: string
  replyTo: string | null
  name: string | null
  /** The whole address. */
  logo: string | null
  color: string | null
  footer: string | null
}

/** @param workspaceName the sender where the brand names none */
export const toMailBrand = (origin: string, brand: Brand, workspaceName: string): { brand: MailBrand } => ({
  brand: {
    ...brand,
    senderName: brand.senderName ?? brand.name ?? workspaceName,
    logo: brand.logo && origin + toLogoPath(brand.logo),
  },
})
