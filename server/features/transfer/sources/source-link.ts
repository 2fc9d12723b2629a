// Makes links of sources. Values that a tool lacks are those of a plain link.

import type { FieldReader } from '../files/fields.ts'
import { toHost } from './short-url.ts'
import type { NewLink, SourceLink } from './source.ts'

const WORDS_MAX = 200

/** Defaults of a link whose tool gives only its destination. */
const createPlain = (): Omit<SourceLink, 'destinationUrl'> => ({
  sourceKey: null,
  host: null,
  slug: null,
  aliases: [],
  title: null,
  comments: null,
  tags: [],
  createdAt: null,
  archived: false,
  startsAt: null,
  expiresAt: null,
  expiredUrl: null,
  clickLimit: null,
  password: null,
  rules: null,
  geoTargeting: {},
  deviceTargeting: {},
  redirectStatus: null,
  forwardQuery: false,
  previewTitle: null,
  previewDescription: null,
  previewImage: null,
  clicks: null,
  left: [],
})

export const createSourceLink = (link: NewLink): SourceLink => ({
  ...createPlain(),
  ...link,
  left: (link.left ?? []).map(cutWords),
})

/** Cuts a text that people read, and that the row of the import keeps. */
const cutWords = (words: string) =>
  words.length > WORDS_MAX ? `${words.slice(0, WORDS_MAX - 1).toWellFormed()}…` : words

export const NO_DESTINATION = 'The destination is missing. Write the URL that the link leads to.'

export const NO_DOMAIN = 'This is not a domain. Write it as go.example.'

/** The domain of a short link. @returns null where the field is empty, and where it is no host: that is a problem */
export function readDomainName(fields: FieldReader, name: string): string | null {
  const text = fields.text(name)
  const host = text === null ? null : toHost(text)
  if (text !== null && host === null) fields.add(name, text, NO_DOMAIN)
  return host
}

/** Leaves out the devices without a URL of their own. */
export const toDeviceTargeting = (
  urls: Partial<Record<keyof SourceLink['deviceTargeting'], string | null>>,
): SourceLink['deviceTargeting'] => Object.fromEntries(Object.entries(urls).filter(([, url]) => url))

/** A protected link without its password would be open to everybody. It comes archived until somebody sets one. */
export const LOST_PASSWORD =
  'a password that the file does not contain in plain text (the link is archived: set a password, then restore it)'
