// The shapes of data subject requests: a copy of a person's data, its erasure, and the receipt of it.

import { z } from '@hono/zod-openapi'
import { PAGE_PARAMETERS, readAs } from '../../../lib/api-fields.ts'
import { EMAIL_MAX, toEmailAddress } from '../../../lib/email.ts'

const emailParameter = () =>
  z
    .string({
      error: ({ input }) => (input === undefined ? 'is required' : 'must be given once'),
    })
    .transform(readAs(toEmailAddress, 'must be an email address'))
    .openapi({
      type: 'string',
      format: 'email',
      maxLength: EMAIL_MAX,
      example: 'ada@example.com',
      description: 'Without regard to case',
    })

export const PersonQuery = z.strictObject({ email: emailParameter() })

export const ErasureListQuery = z.strictObject({
  ...PAGE_PARAMETERS,
  email: emailParameter()
    .optional()
    .openapi({ description: 'Only erasures of this address, without regard to case' }),
})
export type ErasureListQueryInput = z.infer<typeof ErasureListQuery>

const count = (description: string) => z.int().min(0).openapi({ description })

const receipt = {
  id: z.int(),
  at: z.iso.datetime().openapi({ description: 'When all was erased' }),
  submissions: count('Erased submissions'),
  files: count('Their files'),
  deliveries: count('Their notifications, with the sent content'),
  replies: count('Emails to the person'),
}

export const ReceiptShape = z
  .strictObject({
    ...receipt,
    emailHash: z.string().openapi({
      description:
        'A keyed hash of the address. Only this server can compute it: ask with `email` for a match.',
    }),
  })
  .openapi('ErasureReceipt')
export type ReceiptResource = z.infer<typeof ReceiptShape>

export const ErasureShape = z
  .strictObject({
    email: z.string(),
    erased: count('Number of submissions that this request has deleted'),
    receipt: z.strictObject(receipt).openapi({
      description: 'Of the whole erasure, including earlier interrupted requests',
    }),
  })
  .openapi('Erased')
export type ErasureResource = z.infer<typeof ErasureShape>
