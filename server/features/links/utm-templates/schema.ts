// UTM templates as JSON: named sets of UTM values, which a link can be filled with.

import { z } from '@hono/zod-openapi'
import { PAGE_PARAMETERS, text } from '../../../lib/api-fields.ts'
import { utm } from '../schema.ts'

const NAME_MAX = 50

export const UtmTemplateShape = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    utmSource: z.string().nullable(),
    utmMedium: z.string().nullable(),
    utmCampaign: z.string().nullable(),
    utmTerm: z.string().nullable(),
    utmContent: z.string().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
  })
  .openapi('UtmTemplate')
export type UtmTemplateResource = z.infer<typeof UtmTemplateShape>

const name = text(1, NAME_MAX)
  .trim()
  .refine((value) => value !== '', 'must not be blank')

const values = {
  utmSource: utm().optional(),
  utmMedium: utm().optional(),
  utmCampaign: utm().optional(),
  utmTerm: utm().optional(),
  utmContent: utm().optional(),
}

export const CreateUtmTemplate = z.strictObject({ name, ...values }).openapi('CreateUtmTemplate')
export const UpdateUtmTemplate = z
  .strictObject({ name: name.optional(), ...values })
  .openapi('UpdateUtmTemplate')
export type UtmTemplateInput = z.infer<typeof UpdateUtmTemplate>

export const UtmTemplateListQuery = z.strictObject(PAGE_PARAMETERS)
export type UtmTemplateListQueryInput = z.infer<typeof UtmTemplateListQuery>
