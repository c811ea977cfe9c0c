// Registry: what a user of a running fleet does with templates and components, and what the next prompt makes of it.

import type { Prompt } from "@reverie/model"
import { assert, describe, test } from "vitest"
import { defineAssistant, type Fleet, KeyTaken, NoPlaceAfter, PromptUnknown } from "../../src/index.ts"
import { testFleet } from "../../src/testing/index.ts"
import { failureOf, heard, openFleet } from "../rig.ts"

const component = (key: string, more: object = {}) => ({
  key,
  name: key,
  content: `The ${key}.`,
  afterStatic: 1000,
  role: "system",
  ...more
})

const template = (key: string, content: string) => ({ key, name: key, content, category: "system_prompt" })

const textOf = (prompts: ReadonlyArray<Prompt>): string =>
  prompts
    .at(-1)
    ?.messages.map(({ content }) => content)
    .join("\n") ?? ""

const idsAfter = async (fleet: Fleet, afterStatic: number): Promise<ReadonlyArray<number>> =>
  (await fleet.prompts.listComponentsAfter(afterStatic)).map(({ id }) => id)

describe("components of a running fleet", () => {
  test("F19 F27 the gaps of what is plugged in are filled, in the order of ids; what is off or deleted is not shown", async () => {
    const { prompts, says } = heard()
    await using fleet = await openFleet({ says })
    const registry = fleet.prompts
    await registry.createComponent(component("mole", { content: "The mole of {assistant}.", afterStatic: 1500 }))
    const buoy = await registry.createComponent(component("buoy"))
    const crane = await registry.createComponent(component("crane", { enabled: false }))
    await fleet.answer("desk", "Hello?")
    assert.match(textOf(prompts), /The buoy\.[^]*The mole of desk\./)
    assert.notInclude(textOf(prompts), "crane")
    await registry.updateComponent(crane.id, crane.version, { enabled: true })
    await registry.deleteComponent(buoy.id, buoy.version)
    await fleet.answer("desk", "And now?")
    assert.include(textOf(prompts), "The crane.")
    assert.notInclude(textOf(prompts), "The buoy.")
  })

  test("F20 F21 F27 one stands behind any static component, has the lowest id that is free there, and is listed there alone", async () => {
    await using fleet = await openFleet()
    const registry = fleet.prompts
    const statics = (await registry.listComponents()).map(({ id }) => id)
    assert.deepStrictEqual(statics, [0, 1000, 1500, 2000, 3000, 4000, 5000, 6000, 7000])
    for (const afterStatic of statics) {
      const { id } = await registry.createComponent(component(`behind-${afterStatic}`, { afterStatic }))
      assert.strictEqual(id, afterStatic + 1)
    }
    for (const key of ["buoy", "crane"]) await registry.createComponent(component(key))
    const buoy = await registry.getComponentByKey("buoy")
    await registry.deleteComponent(buoy.id, buoy.version)
    assert.strictEqual((await registry.createComponent(component("mole"))).id, 1002)
    assert.deepStrictEqual(await idsAfter(fleet, 1000), [1001, 1002, 1003])
    assert.deepStrictEqual(await idsAfter(fleet, 0), [1])
    assert.lengthOf(await registry.listPluggableComponents(), statics.length + 2)
    for (const afterStatic of [1, 600, 1001, 8000]) {
      assert.instanceOf(await failureOf(registry.createComponent(component("x", { afterStatic }))), NoPlaceAfter)
      assert.instanceOf(await failureOf(registry.listComponentsAfter(afterStatic)), NoPlaceAfter)
    }
  })

  test("F21 an id of another static component's range is never given", async () => {
    await using fleet = await openFleet()
    const registry = fleet.prompts
    const { id } = await registry.createComponent(component("buoy"))
    const exported = JSON.parse(await registry.exportComponentJson(id))
    for (const [wanted, given] of [
      [1_499, 1_499],
      [1_600, 1_002],
      [1_500, 1_003]
    ]) {
      const asked = { ...exported, component: { ...exported.component, key: `at-${wanted}`, id: wanted } }
      assert.strictEqual((await registry.importComponentJson(JSON.stringify(asked))).id, given)
    }
  })

  test("F28 a component that moves has a new id and leaves its old one, which the next one has", async () => {
    const { prompts, says } = heard()
    await using fleet = await openFleet({ says })
    const registry = fleet.prompts
    const { id, version } = await registry.createComponent(component("buoy"))
    await registry.createComponent(component("crane", { afterStatic: 1500 }))
    const moved = await registry.moveComponent(id, version, 1500)
    assert.deepInclude(moved, { id: 1502, afterStatic: 1500, key: "buoy" })
    assert.instanceOf(await failureOf(registry.getComponent(1001)), PromptUnknown)
    await fleet.answer("desk", "Hello?")
    assert.match(textOf(prompts), /The crane\.\nThe buoy\./)
    assert.strictEqual((await registry.createComponent(component("mole"))).id, 1001)
  })

  test("F29 a template's text becomes that of a component, and a component's text a template", async () => {
    const { prompts, says } = heard()
    await using fleet = await openFleet({ says })
    const registry = fleet.prompts
    await registry.createTemplate(template("tides", "High water for {assistant}."))
    const { id, version } = await registry.createComponent(component("buoy"))
    await registry.applyTemplateToComponent("tides", id, version)
    await fleet.answer("desk", "Hello?")
    assert.include(textOf(prompts), "High water for desk.")
    const saved = await registry.saveComponentAsTemplate(id, { key: "default", name: "Ours" })
    assert.deepStrictEqual(saved.placeholders, ["assistant"])
    await fleet.answer("desk", "And now?")
    assert.match(textOf(prompts), /^High water for desk\.\n\nYou are under test\./)
  })

  test("F30 an export goes into another fleet; one that is there stands until it is to be overwritten", async () => {
    await using harbor = await openFleet()
    const from = harbor.prompts
    await from.createTemplate(template("default", "The harbour of {assistant}."))
    const { id } = await from.createComponent(component("buoy"))
    const [templateJson, componentJson] = [await from.exportTemplateJson("default"), await from.exportComponentJson(id)]
    const { prompts, says } = heard()
    await using tower = await openFleet({ says })
    const to = tower.prompts
    await to.createTemplate(template("default", "The tower."))
    await to.createComponent(component("buoy", { content: "A light." }))
    assert.instanceOf(await failureOf(to.importTemplateJson(templateJson)), KeyTaken)
    assert.instanceOf(await failureOf(to.importComponentJson(componentJson)), KeyTaken)
    await tower.answer("desk", "Hello?")
    assert.match(textOf(prompts), /^The tower\.[^]*A light\./)
    await to.importTemplateJson(templateJson, { overwrite: true })
    await to.importComponentJson(componentJson, { overwrite: true })
    await tower.answer("desk", "And now?")
    assert.match(textOf(prompts), /^The harbour of desk\.[^]*The buoy\./)
  })
})

describe("templates of a running fleet", () => {
  test("F22 F26 a template has its gaps; one of a tenant goes before the built-in one, until it is deleted", async () => {
    await using fleet = await openFleet()
    const registry = fleet.prompts
    const builtIn = await registry.getTemplate("default")
    assert.deepInclude(builtIn, { isBuiltin: true, version: 0 })
    const content = "{assistant} of {tenant}, {{not a gap}}, {assistant}"
    const ours = await registry.createTemplate({ ...template("default", content), description: "Of ours." })
    const { createdAt: _, updatedAt: __, ...fields } = ours
    assert.deepStrictEqual(fields, {
      key: "default",
      name: "default",
      description: "Of ours.",
      content,
      placeholders: ["assistant", "tenant"],
      category: "system_prompt",
      isBuiltin: false,
      version: ours.version
    })
    assert.deepInclude(await registry.getTemplate("default"), { content, isBuiltin: false })
    const clone = await registry.cloneTemplate("default", "twin", "Twin")
    assert.deepInclude(clone, { key: "twin", name: "Twin", content, placeholders: ["assistant", "tenant"] })
    const own = await registry.listTemplates({ includeBuiltin: false })
    assert.deepStrictEqual(own.map(({ key }) => key).toSorted(), ["default", "twin"])
    await registry.deleteTemplate("default", ours.version)
    assert.deepInclude(await registry.getTemplate("default"), { content: builtIn.content, isBuiltin: true })
  })

  test("F31 a change moves the time of the last change alone, of a template and of a component", async () => {
    await using fleet = await testFleet(defineAssistant({ id: "desk", instructions: "You are under test." }))
    const registry = fleet.prompts
    const made = await registry.createTemplate(template("tides", "High water."))
    const placed = await registry.createComponent(component("buoy"))
    await fleet.clock.advance("1h")
    const changed = await registry.updateTemplate("tides", made.version, { content: "Low water." })
    const rewritten = await registry.updateComponent(placed.id, placed.version, { content: "A light." })
    for (const [before, after] of [
      [made, changed],
      [placed, rewritten]
    ] as const) {
      assert.strictEqual(after.createdAt, before.createdAt)
      assert.strictEqual(after.updatedAt, before.updatedAt + 3_600_000)
      assert.strictEqual(after.version, before.version + 1)
    }
  })
})
