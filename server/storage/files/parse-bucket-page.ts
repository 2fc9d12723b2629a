// Reads one page of a bucket's list (ListObjectsV2). Keys of other programs may be in it, and are no concern of ours.

import type { StoredFile } from './file-store.ts'

const OBJECT = /<Contents>([\s\S]*?)<\/Contents>/g
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

export interface BucketPage {
  files: StoredFile[]
  /** More files follow. */
  isTruncated: boolean
}

/** @throws where the text is no such page */
export function parseBucketPage(xml: string): BucketPage {
  if (!xml.includes('<ListBucketResult')) throw new Error('The bucket for uploads does not answer as S3 does')
  const files = Array.from(xml.matchAll(OBJECT), ([, object = '']) => ({
    key: readElement(object, 'Key') ?? '',
    bytes: Number(readElement(object, 'Size') ?? 0),
    at: Date.parse(readElement(object, 'LastModified') ?? ''),
  }))
  return { files, isTruncated: readElement(xml, 'IsTruncated') === 'true' }
}

function readElement(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]
  return text?.replace(
    /&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9a-f]{1,6}));/gi,
    (whole, name, decimal, hex) => {
      if (name) return ENTITIES[name.toLowerCase()] ?? whole
      const code = decimal ? Number(decimal) : Number.parseInt(hex, 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}
