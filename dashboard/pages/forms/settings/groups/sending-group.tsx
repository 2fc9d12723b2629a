// Settings for the pages that senders see after they send the form.

import { Button } from '../../../../ui/button.tsx'
import { formatExample, TextField } from '../../../../ui/forms/field.tsx'
import { findFieldError } from '../../../../ui/forms/form-error.tsx'
import { ListField } from '../controls/list-field.tsx'
import type { GroupProps } from '../form-draft.ts'
import { SettingsGroup } from '../settings-group.tsx'
import { AfterSendingChoice, OnErrorChoice, PageUrlInput } from './sending-fields.tsx'
import { usePageSuggestion } from './use-page-suggestion.ts'

export const SendingGroup = ({ form, draft, set, errors }: GroupProps) => (
  <SettingsGroup id="sending">
    <p className="text-soft">
      With the snippet, senders stay on your page and see the messages there. The rest is for browsers where
      the snippet doesn’t run, and for pages without it.
    </p>
    <TextField
      label="Success message"
      value={draft.successMessage ?? ''}
      onChange={(event) => set({ successMessage: event.target.value || null })}
      placeholder="Thank you!"
      maxLength={1000}
      hint="The snippet and the thank-you page show it."
      error={findFieldError(errors, 'successMessage')}
    />
    <div className="grid gap-2" data-page-url>
      <PageUrlInput draft={draft} set={set} errors={errors} />
      {draft.pageUrl === null && (
        <PageSuggestion formKey={form.formKey} choose={(pageUrl) => set({ pageUrl })} />
      )}
    </div>
    <AfterSendingChoice draft={draft} set={set} errors={errors} />
    <OnErrorChoice draft={draft} set={set} />
    <ListField
      label="Allowed hosts for _next"
      hint="A field named _next in the form overrides the choice above. It can redirect to these hosts only, for example example.com. Leave empty to allow all hosts."
      placeholder={formatExample('example.com')}
      value={draft.nextHosts}
      onChange={(nextHosts) => set({ nextHosts })}
      error={findFieldError(errors, 'nextHosts')}
    />
  </SettingsGroup>
)

/** Offers the page that the newest submissions name. */
function PageSuggestion({ formKey, choose }: { formKey: string; choose: (pageUrl: string) => void }) {
  const page = usePageSuggestion({ formKey })
  if (!page) return null
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-soft">
      <span className="min-w-0 break-all">The newest submissions came from {page}.</span>
      <Button
        size="small"
        onClick={(event) => {
          // The button goes with its sentence: the focus moves to the field that has the page now.
          event.currentTarget.closest('[data-page-url]')?.querySelector('input')?.focus()
          choose(page)
        }}
      >
        Use this page
      </Button>
    </p>
  )
}
