// Settings for the pages that senders see where the snippet does not run: after they send the form, and after a
// mistake.

import type { FormResource } from '../../../../../server/features/forms/schema.ts'
import { TextField } from '../../../../ui/forms/field.tsx'
import { findFieldError } from '../../../../ui/forms/form-error.tsx'
import { ChoiceField } from '../controls/choice-field.tsx'

export type SendingDraft = Pick<FormResource, 'pageUrl' | 'redirectUrl' | 'afterSubmit' | 'onError'>

/** A form that is made here thanks on a page of this server: it works on every site, without the snippet too. */
export const NEW_FORM_SENDING: SendingDraft = {
  pageUrl: null,
  redirectUrl: null,
  afterSubmit: 'hosted',
  onError: 'hosted',
}

interface SendingFieldsProps {
  draft: SendingDraft
  set: (part: Partial<SendingDraft>) => void
  errors: Record<string, string>
}

export function PageUrlInput({ draft, set, errors, optional }: SendingFieldsProps & { optional?: boolean }) {
  return (
    <TextField
      label={optional ? 'Page with the form (optional)' : 'Page with the form'}
      type="url"
      inputMode="url"
      value={draft.pageUrl ?? ''}
      onChange={(event) => set({ pageUrl: event.target.value.trim() || null })}
      placeholder="https://example.com/contact"
      maxLength={2048}
      autoComplete="off"
      hint="Senders return to this page. Browsers send only your site’s address, not the page’s."
      error={findFieldError(errors, 'pageUrl')}
    />
  )
}

/** Where `referer` leads. @param message what senders see of a message on the known page */
const describeReturn = ({ pageUrl }: SendingDraft, message: string) =>
  pageUrl
    ? `Senders see ${pageUrl} again. ${message}`
    : 'Senders see your home page, without a message. Name the page with the form, and they see that page.'

export function AfterSendingChoice({ draft, set, errors }: SendingFieldsProps) {
  return (
    <ChoiceField
      legend="After sending"
      value={draft.redirectUrl === null ? draft.afterSubmit : 'url'}
      onChange={(value) =>
        set(value === 'url' ? { redirectUrl: '' } : { redirectUrl: null, afterSubmit: value })
      }
      choices={[
        {
          value: 'hosted',
          label: 'Thank-you page of this server',
          hint: 'Senders see the success message and a link back to the page.',
        },
        {
          value: 'referer',
          label: 'Back to the page with the form',
          hint: describeReturn(draft, 'Senders get no confirmation message.'),
        },
        {
          value: 'url',
          label: 'Your own page',
          hint: 'Senders see the page at this URL.',
          details: (
            <TextField
              label="Redirect URL"
              type="url"
              inputMode="url"
              value={draft.redirectUrl ?? ''}
              onChange={(event) => set({ redirectUrl: event.target.value.trim() })}
              placeholder="https://example.com/thanks"
              maxLength={2048}
              autoComplete="off"
              error={findFieldError(errors, 'redirectUrl')}
            />
          ),
        },
      ]}
    />
  )
}

export function OnErrorChoice({ draft, set }: Omit<SendingFieldsProps, 'errors'>) {
  return (
    <ChoiceField
      legend="After a mistake"
      value={draft.onError}
      onChange={(onError) => set({ onError })}
      choices={[
        {
          value: 'hosted',
          label: 'Page of this server with the messages',
          hint: 'Senders see the error for each field. Going back keeps their input.',
        },
        {
          value: 'referer',
          label: 'Back to the page, with messages for the snippet',
          hint: describeReturn(draft, 'The snippet shows the messages. Without it there are none.'),
        },
      ]}
    />
  )
}
