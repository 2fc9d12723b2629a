// The UTM values of a link, and the templates that fill them.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type UtmTemplateResource, utmTemplatesQuery } from '../../../api/utm-templates.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { CollapsibleSection } from '../../../ui/collapsible-section.tsx'
import { SelectField } from '../../../ui/forms/field.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { UTM_PARAMETERS, type UtmValues } from './destination-url.ts'
import type { LinkFieldsProps } from './field-props.ts'
import { fillUtm, setAllUtm, setUtm } from './link-draft.ts'
import { UtmInputs } from './utm-inputs.tsx'

const UtmTemplateDialog = lazyPart(
  () => import('../../settings/utm-templates/utm-template-dialog.tsx'),
  'UtmTemplateDialog',
)

export function UtmFields({ draft, onChange }: LinkFieldsProps) {
  const used = UTM_PARAMETERS.filter(({ name }) => draft.utm[name] !== '')
  const [isOpen, setOpen] = useState(false)
  return (
    <CollapsibleSection
      title="UTM parameters"
      summary={used.length > 0 && used.map(({ name }) => draft.utm[name]).join(', ')}
      onOpenChange={setOpen}
    >
      <p className="text-sm text-soft">
        Added to the destination URL, where your own analytics read them too.
      </p>
      {isOpen && <TemplatePicker utm={draft.utm} onFill={(utm) => onChange(setAllUtm(draft, utm))} />}
      <UtmInputs
        toValue={({ name }) => draft.utm[name]}
        onChange={({ name }, value) => onChange(setUtm(draft, name, value))}
      />
    </CollapsibleSection>
  )
}

interface PickerProps {
  utm: UtmValues
  onFill: (utm: UtmValues) => void
}

/** A template fills empty fields. Where the link has another value, the person decides. */
function TemplatePicker({ utm, onFill }: PickerProps) {
  const { data: templates = [] } = useQuery(utmTemplatesQuery(useApi()))
  const [chosen, choose] = useState<UtmTemplateResource>()
  const [isSaving, setSaving] = useState(false)
  const { conflicts } = chosen ? fillUtm(utm, chosen) : { conflicts: [] }
  const isEmpty = Object.values(utm).every((value) => value === '')
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-end gap-2">
        {templates.length > 0 && (
          <SelectField
            label="Template"
            className="min-w-40 flex-1"
            value={chosen?.id ?? ''}
            onChange={({ target }) => {
              const template = templates.find(({ id }) => String(id) === target.value)
              choose(template)
              if (template) onFill(fillUtm(utm, template).filled)
            }}
            options={templates.map(({ id, name }) => [id, name])}
          >
            <option value="">Choose a template</option>
          </SelectField>
        )}
        <Button disabled={isEmpty} onClick={() => setSaving(true)}>
          Save as template
        </Button>
      </div>
      {chosen && conflicts.length > 0 && (
        <div
          role="status"
          className="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-sunken px-3 py-2 text-sm"
        >
          <p className="min-w-0 flex-1 basis-48">
            Your own values stay: {conflicts.map(({ label }) => label).join(', ')}.
          </p>
          <Button size="small" onClick={() => onFill(fillUtm(utm, chosen, { replace: true }).filled)}>
            Use the template’s values
          </Button>
        </div>
      )}
      {isSaving && (
        <UtmTemplateDialog
          start={Object.fromEntries(UTM_PARAMETERS.map(({ field, name }) => [field, utm[name]]))}
          onClose={() => setSaving(false)}
          onSaved={choose}
        />
      )}
    </div>
  )
}
