// The consent checkbox, its stored text, and the click ids of ads.

import { CODE_INPUT } from '../../../../ui/forms/control-class.ts'
import { formatExample, TextareaField, TextField, Toggle } from '../../../../ui/forms/field.tsx'
import { findFieldError } from '../../../../ui/forms/form-error.tsx'
import type { GroupProps } from '../form-draft.ts'
import { SettingsGroup } from '../settings-group.tsx'

const NEW_CONSENT = { field: 'consent', text: '' }

export function ConsentGroup({ draft, set, errors }: GroupProps) {
  const { consent } = draft
  return (
    <SettingsGroup id="consent" error={errors.consent}>
      <Toggle
        label="Record consent"
        hint="A checkbox in your form. When it’s checked, its text and the time are stored with the submission."
        checked={consent !== null}
        onChange={(event) => set({ consent: event.target.checked ? NEW_CONSENT : null })}
      />
      {consent && (
        <>
          <TextField
            label="Name of the checkbox"
            className="[&_input]:font-mono"
            value={consent.field}
            maxLength={256}
            {...CODE_INPUT}
            hint="To make it required, add it to the required fields."
            onChange={(event) => set({ consent: { ...consent, field: event.target.value } })}
            error={findFieldError(errors, 'consent.field')}
          />
          <TextareaField
            label="Text beside it"
            hint="The same text as on your page. A change applies to new submissions only."
            error={findFieldError(errors, 'consent.text')}
            value={consent.text}
            maxLength={2000}
            rows={3}
            placeholder={formatExample('Send me the newsletter. I can unsubscribe anytime.')}
            onChange={(event) => set({ consent: { ...consent, text: event.target.value } })}
          />
        </>
      )}
      <Toggle
        label="Keep ad click IDs"
        hint="The IDs of Google, Microsoft and Meta (gclid, gbraid, wbraid, msclkid, fbclid) in the address of the page that the click led to, to report won leads back to the ad. Needs the consent of the sender in many countries."
        checked={draft.adClickIds}
        onChange={(event) => set({ adClickIds: event.target.checked })}
      />
    </SettingsGroup>
  )
}
