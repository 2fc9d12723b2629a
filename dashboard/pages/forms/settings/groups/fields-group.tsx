// Required fields, and the rules for the values of single fields.

import { Plus } from 'lucide-react'
import { useId, useState } from 'react'
import { Button } from '../../../../ui/button.tsx'
import { focusNext } from '../../../../ui/focus.ts'
import { CODE_INPUT } from '../../../../ui/forms/control-class.ts'
import { Field, formatExample, Input } from '../../../../ui/forms/field.tsx'
import { findFieldError } from '../../../../ui/forms/form-error.tsx'
import { ListField } from '../controls/list-field.tsx'
import type { GroupProps } from '../form-draft.ts'
import { SettingsGroup } from '../settings-group.tsx'
import { RuleEditor } from './rule-editor.tsx'
import { useFieldNames } from './use-field-names.ts'

const ADD_RULES = '[data-add-rules]'

export function FieldsGroup({ form, draft, set, errors }: GroupProps) {
  const { rules } = draft
  const [added, setAdded] = useState<string>()
  const names = useFieldNames(form, draft).filter((name) => !(name in rules))
  return (
    <SettingsGroup id="fields" error={errors.rules}>
      <ListField
        label="Required fields"
        hint="The names of fields that must not be empty. Press Enter to add a name."
        placeholder={formatExample('email')}
        value={draft.requiredFields}
        onChange={(requiredFields) => set({ requiredFields })}
        error={findFieldError(errors, 'requiredFields')}
      />
      <section className="grid grid-cols-[minmax(0,1fr)] gap-3" aria-label="Rules">
        <div className="grid gap-1">
          <h3 className="text-sm font-medium">Rules for single fields</h3>
          <p className="text-sm text-soft">
            The server checks them, also without the snippet. An empty field that isn’t required passes.
          </p>
        </div>
        {Object.keys(rules).length > 0 && (
          <div className="border-b border-line">
            {Object.entries(rules).map(([name, rule]) => (
              <RuleEditor
                key={name}
                name={name}
                rule={rule}
                errors={errors}
                startsOpen={name === added}
                onChange={(next) => set({ rules: { ...rules, [name]: next } })}
                remove={() => {
                  set({ rules: Object.fromEntries(Object.entries(rules).filter(([each]) => each !== name)) })
                  focusNext(ADD_RULES)
                }}
              />
            ))}
          </div>
        )}
        <AddRules
          names={names}
          add={(name) => {
            setAdded(name)
            if (!(name in rules)) set({ rules: { ...rules, [name]: {} } })
          }}
        />
      </section>
    </SettingsGroup>
  )
}

function AddRules({ names, add }: { names: string[]; add: (name: string) => void }) {
  const [name, setName] = useState('')
  const id = useId()
  const submit = () => {
    if (name.trim() === '') return
    add(name.trim())
    setName('')
  }
  return (
    <Field label="Add rules for the field">
      {(control) => (
        <span className="flex max-w-md gap-2">
          <Input
            {...control}
            data-add-rules
            list={id}
            value={name}
            maxLength={256}
            placeholder={formatExample('phone')}
            {...CODE_INPUT}
            onChange={(event) => setName(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || name.trim() === '') return
              event.preventDefault()
              submit()
            }}
          />
          <datalist id={id}>
            {names.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
          <Button icon={<Plus size={16} />} disabled={name.trim() === ''} onClick={submit}>
            Add
          </Button>
        </span>
      )}
    </Field>
  )
}
