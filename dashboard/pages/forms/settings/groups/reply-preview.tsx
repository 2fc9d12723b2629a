// The email to the sender with sample values.

import { toFieldLabel } from '../../../../../server/features/forms/markup.ts'
import type { FormResource } from '../../../../../server/features/forms/schema.ts'

type Reply = NonNullable<FormResource['reply']>

const SAMPLES: Record<string, string> = {
  name: 'Ada Lovelace',
  first_name: 'Ada',
  last_name: 'Lovelace',
  email: 'ada@example.com',
  message: 'I would like to know more about your offer.',
  confirm: `${location.origin}/f/confirm/…`,
  unsubscribe: `${location.origin}/f/stop/…`,
}

const fill = (template: string) =>
  template.replace(/\{\{\s*([^{}]*?)\s*\}\}/g, (_, name: string) =>
    Object.hasOwn(SAMPLES, name) ? (SAMPLES[name] as string) : `[${toFieldLabel(name)}]`,
  )

export function ReplyPreview({ reply }: { reply: Reply }) {
  const needsLink = reply.confirm && !/\{\{\s*confirm\s*\}\}/.test(reply.text)
  const text = needsLink ? `${reply.text.trimEnd()}\n\n{{confirm}}` : reply.text
  return (
    <figure className="grid gap-1.5">
      <figcaption className="text-sm font-medium">Preview with sample values</figcaption>
      <div className="grid gap-2 rounded-lg bg-sunken px-3 py-2.5 text-sm">
        <p className="font-medium break-words">{fill(reply.subject) || 'No subject'}</p>
        <p className="break-words whitespace-pre-wrap">{fill(text)}</p>
      </div>
    </figure>
  )
}
