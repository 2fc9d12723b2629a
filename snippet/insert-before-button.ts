// Inserts an element before the submit button of a form, where people look next.

export function insertBeforeButton(form: HTMLFormElement, element: Element) {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('button,input')]
  const button = buttons.find((each) => each.form === form && /^(submit|image)$/.test(each.type))
  if (button && HTMLFormElement.prototype.contains.call(form, button)) button.before(element)
  else HTMLFormElement.prototype.append.call(form, element)
}
