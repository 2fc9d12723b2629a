// Settings for the pages that senders see where the snippet does not run: after they send the form, and after a
// mistake.

import type { FormResource } from '../../../../../server/features/forms/schema.ts'
import { formatExample, TextField } from '../../../../ui/forms/field.tsx'
import { findFieldError } from '../../../../ui/forms/form-error.tsx'
import { ChoiceField } from '../controls/choice-field.tsx'

type SendingDraft = Pick<FormResource, 'pageUrl' | 'redirectUrl' | 'afterSubmit' | 'onError'>

interface SendingFieldsProps {
  draft: SendingDraft
  set: (part: Partial<SendingDraft>) => void
  errors: Record<string, string>
}

export function PageUrlInput({ draft, set, errors }: SendingFieldsProps) {
  return (
    <TextField
      label="Page with the form"
      type="url"
      inputMode="url"
      value={draft.pageUrl ?? ''}
      onChange={(event) => set({ pageUrl: event.target.value.trim() || null })}
      placeholder={formatExample('https://example.com/contact')}
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
      legend="On success"
      value={draft.redirectUrl === null ? draft.afterSubmit : 'url'}
      onChange={(value) =>
        set(value === 'url' ? { redirectUrl: '' } : { redirectUrl: null, afterSubmit: value })
      }
      choices={[
        {
          value: 'hosted',
          label: 'Hosted thank-you page',
          hint: 'Shows the success message and a link back to your page.',
        },
        {
          value: 'referer',
          label: 'Back to your page',
          hint: describeReturn(draft, 'Without a confirmation message.'),
        },
        {
          value: 'url',
          label: 'Your own page',
          hint: 'Redirects to a URL that you choose.',
          details: (
            <TextField
              label="Redirect URL"
              type="url"
              inputMode="url"
              value={draft.redirectUrl ?? ''}
              onChange={(event) => set({ redirectUrl: event.target.value.trim() })}
              placeholder={formatExample('https://example.com/thanks')}
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
      legend="On error"
      value={draft.onError}
      onChange={(onError) => set({ onError })}
      choices={[
        {
          value: 'hosted',
          label: 'Hosted error page',
          hint: 'Lists the error for each field. Going back keeps what they typed.',
        },
        {
          value: 'referer',
          label: 'Back to your page, with errors for the snippet',
          hint: describeReturn(draft, 'The snippet shows the errors. Without it, there are none.'),
        },
      ]}
    />
  )
}
