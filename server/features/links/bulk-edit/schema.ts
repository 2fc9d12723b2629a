// One change of many links, its answer, and its undoing, as JSON.

import { z } from '@hono/zod-openapi'
import { flag, instant, text, wholeNumber } from '../../../lib/api-fields.ts'
import { URL_MAX } from '../../../lib/web-url.ts'
import { bulk, LinkShape, TAGS_MAX, url, utm } from '../schema.ts'

const tagIds = () =>
  z
    .array(wholeNumber(1), { error: 'must be a list of tag ids' })
    .max(TAGS_MAX, `must be at most ${TAGS_MAX} tags`)

const Replacement = z
  .strictObject(
    {
      find: text(1, URL_MAX).openapi({ example: 'old.example.com' }),
      with: text(0, URL_MAX).openapi({ example: 'new.example.com' }),
    },
    { error: ({ code }) => (code === 'invalid_type' ? 'must be an object of find and with' : undefined) },
  )
  .openapi('UrlReplacement')

const LinkChanges = z
  .strictObject({
    destinationUrl: url().optional().openapi({ description: 'The new destination of all' }),
    replace: Replacement.optional().openapi({
      description: 'Replaces every occurrence of a text in each destination; case-sensitive',
    }),
    utmSource: utm().optional(),
    utmMedium: utm().optional(),
    utmCampaign: utm().optional(),
    utmTerm: utm().optional(),
    utmContent: utm().optional(),
    expiresAt: instant().nullable().optional(),
    expiredUrl: url().nullable().optional(),
    domain: text(1, 255).optional().openapi({ description: 'The links move with their slugs' }),
    archived: flag().optional(),
    addTagIds: tagIds().optional(),
    removeTagIds: tagIds().optional(),
  })
  .superRefine((changes, context) => {
    const fail = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    if (changes.destinationUrl !== undefined && changes.replace)
      fail('replace', 'cannot be combined with destinationUrl')
    const both = changes.addTagIds?.find((id) => changes.removeTagIds?.includes(id))
    if (both !== undefined) fail('removeTagIds', `has the tag ${both}, which addTagIds has too`)
  })
  .openapi('LinkChanges')
export type LinkChangesInput = z.infer<typeof LinkChanges>

const UndoShape = z
  .strictObject({
    id: z.int(),
    updatedAt: z.string().openapi({ description: 'The version that the change has made' }),
    destinationUrl: z.string().optional(),
    expiresAt: z.string().nullable().optional(),
    expiredUrl: z.string().nullable().optional(),
    domain: z.string().optional(),
    archived: z.boolean().optional(),
    tagIds: z.array(z.int()).optional(),
  })
  .openapi('LinkUndo', { description: 'What the link had before' })
export type LinkUndoResource = z.infer<typeof UndoShape>

export const EditedLinksShape = z
  .strictObject({
    changed: z.array(LinkShape),
    unchanged: z.array(z.int()).openapi({ description: 'The links that had all of it already' }),
    failed: z
      .array(z.strictObject({ id: z.int(), errors: z.record(z.string(), z.string()) }))
      .openapi({ description: 'The links that stay as they are, and why' }),
    undo: z.array(UndoShape).openapi({ description: 'Send it as `undo` to take the change back' }),
  })
  .openapi('EditedLinks')
export type EditedLinksResource = z.infer<typeof EditedLinksShape>

const LinkUndo = z.strictObject({
  id: wholeNumber(1),
  updatedAt: instant(),
  destinationUrl: url().optional(),
  expiresAt: instant().nullable().optional(),
  expiredUrl: url().nullable().optional(),
  domain: text(1, 255).optional(),
  archived: flag().optional(),
  tagIds: tagIds().optional(),
})
export type LinkUndoInput = z.infer<typeof LinkUndo>

export const EditLinks = z
  .union(
    [
      z.strictObject({ ids: bulk(wholeNumber(1)), changes: LinkChanges }),
      z.strictObject({ undo: bulk(LinkUndo) }),
    ],
    { error: 'must be an object of ids and changes, or of undo' },
  )
  .openapi('EditLinks')
