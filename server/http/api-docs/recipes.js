// Adds a copy button to each piece of code on /docs/recipes, where the browser can copy.

for (const figure of navigator.clipboard ? document.querySelectorAll('figure') : []) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(figure.querySelector('code').textContent)
      button.textContent = 'Copied'
    } catch {
      button.textContent = 'Not copied'
    }
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2000)
  })
  figure.querySelector('figcaption').append(button)
}
