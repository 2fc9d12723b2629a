// Creates links of sources. Values that a tool does not have are the defaults of a link.

import type { FieldReader } from '../files/fields.ts'
import { toHost } from './short-url.ts'
import type { NewLink, SourceLink } from './source.ts'

const WORDS_MAX = 200

/** The defaults of a link with only a destination. */
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

/** Cuts a text that people see, and that the row of the import stores. */
const cutWords = (words: string) =>
  words.length > WORDS_MAX ? `${words.slice(0, WORDS_MAX - 1).toWellFormed()}…` : words

export const NO_DESTINATION = 'The destination is missing. Write the URL that the link leads to.'

export const NO_DOMAIN = 'This is not a domain. Write it as go.example.'

/** The domain of a short link. @returns null if the field is empty, or, with a problem, if it is not a host */
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

/** The note of a protected link without its password. It is imported as archived, because it would be open to everybody. */
export const LOST_PASSWORD =
  'a password that the file does not contain in plain text (the link is archived: set a password, then restore it)'
