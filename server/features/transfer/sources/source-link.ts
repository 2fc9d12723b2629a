// Makes links of sources. Values that a tool lacks are those of a plain link.

import type { SourceLink } from './source.ts'

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

export const createSourceLink = (
  link: Partial<SourceLink> & Pick<SourceLink, 'destinationUrl'>,
): SourceLink => ({ ...createPlain(), ...link, left: (link.left ?? []).map(cutWords) })

/** Cuts a text that people read, and that the row of the import keeps. */
const cutWords = (words: string) =>
  words.length > WORDS_MAX ? `${words.slice(0, WORDS_MAX - 1).toWellFormed()}…` : words

/** A protected link without its password would be open to everybody. It comes archived until somebody sets one. */
export const LOST_PASSWORD =
  'a password that the file does not contain in plain text (the link is archived: set a password, then restore it)'
