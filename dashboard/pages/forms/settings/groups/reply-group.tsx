// The email that answers the sender, and double opt-in.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import { toFieldLabel } from '../../../../../server/features/forms/markup.ts'
import type { FormResource } from '../../../../../server/features/forms/schema.ts'
import { signInOptionsQuery } from '../../../../api/session.ts'
import { TextareaField, TextField, Toggle } from '../../../../ui/forms/field.tsx'
import { findFieldError } from '../../../../ui/forms/form-error.tsx'
import { PlaceholderButtons } from '../../../../ui/forms/placeholder-buttons.tsx'
import type { GroupProps } from '../form-draft.ts'
import { SettingsGroup } from '../settings-group.tsx'
import { useFieldNames } from './use-field-names.ts'

type Reply = NonNullable<FormResource['reply']>

const NEW_REPLY: Reply = {
  subject: 'Thank you for your message',
  text: 'Hello {{name}},\n\nthank you for your message. We’ll reply soon.',
  confirm: false,
}

export function ReplyGroup({ form, draft, set, errors }: GroupProps) {
  const { reply } = draft
  const names = useFieldNames(form, draft)
  const { data: server } = useQuery(signInOptionsQuery)
  return (
    <SettingsGroup id="reply" error={errors.reply}>
      <Toggle
        label="Send an auto-reply"
        hint="Sent to the address in the “email” field, once a day per address. Spam and duplicates get no reply."
        checked={reply !== null}
        onChange={(event) => set({ reply: event.target.checked ? NEW_REPLY : null })}
      />
      {server?.mail === false && <NoMailNote />}
      {reply && (
        <ReplyFields
          reply={reply}
          names={names}
          errors={errors}
          change={(part) => set({ reply: { ...reply, ...part } })}
        />
      )}
      <p className="text-sm text-soft">
        The sender name, reply-to address and footer of emails are{' '}
        <Link
          to="/$workspaceId/forms/$formKey"
          from="/$workspaceId/forms/$formKey"
          search={{ tab: 'settings', page: 'brand' }}
          className="text-link"
        >
          part of the brand
        </Link>
        .
      </p>
    </SettingsGroup>
  )
}

const NoMailNote = () => (
  <div role="note" className="grid gap-1 rounded-lg border border-warn bg-warn-tint px-3 py-2.5 text-sm">
    <p className="font-medium">This server can’t send email yet.</p>
    <p>
      The person who runs it sets <code>SMTP_URL</code> and <code>MAIL_FROM</code>, and starts it again. Until
      then, this can’t be saved.
    </p>
  </div>
)

interface ReplyFieldsProps {
  reply: Reply
  names: string[]
  errors: Record<string, string>
  change: (part: Partial<Reply>) => void
}

function ReplyFields({ reply, names, errors, change }: ReplyFieldsProps) {
  const text = useRef<HTMLTextAreaElement>(null)
  return (
    <>
      <TextField
        label="Subject"
        maxLength={200}
        autoComplete="off"
        value={reply.subject}
        onChange={(event) => change({ subject: event.target.value })}
        error={findFieldError(errors, 'reply.subject')}
      />
      <div className="grid gap-2">
        <TextareaField
          label="Text"
          hint="Plain text. Senders’ text is cut at 100 characters, and its links are removed."
          error={findFieldError(errors, 'reply.text')}
          ref={text}
          rows={6}
          maxLength={10_000}
          value={reply.text}
          onChange={(event) => change({ text: event.target.value })}
        />
        <PlaceholderButtons
          names={[...names, ...(reply.confirm ? ['confirm'] : []), 'unsubscribe']}
          field={text}
          onChange={(next) => change({ text: next })}
        />
      </div>
      <Toggle
        label="Double opt-in"
        hint="The email has a link to a page with a button. Until the sender presses it, the submission waits under “Not confirmed”, counts as no lead and notifies nobody. After seven days it is erased."
        checked={reply.confirm}
        onChange={(event) => change({ confirm: event.target.checked })}
      />
      {findFieldError(errors, 'reply.confirm') && (
        <p role="alert" className="text-sm text-danger">
          {findFieldError(errors, 'reply.confirm')}
        </p>
      )}
      <ReplyPreview reply={reply} />
    </>
  )
}

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

/** The email to the sender with sample values. */
function ReplyPreview({ reply }: { reply: Reply }) {
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
