// The Khronos validator finds no error and no warning in what pliant writes.
//
// usage: node check_gltf.mjs [--samples MESH_SAMPLES FOLDER] FILE...
import {execFileSync} from 'node:child_process';
import {mkdirSync, readFileSync, readdirSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';

let validator;
try {
  validator = (await import('gltf-validator')).default;
} catch {
  console.log('SKIPPED: gltf-validator is not installed (npm ci in tests/tools installs it)');
  process.exit(77);
}

const files = process.argv.slice(2);
if (files[0] === '--samples') {
  const [, samples, folder] = files.splice(0, 3);
  mkdirSync(folder, {recursive: true});
  execFileSync(samples, ['write', folder], {stdio: 'inherit', timeout: 60000});
  files.push(...readdirSync(folder).filter((name) => /\.(gltf|glb)$/.test(name)).map((name) => join(folder, name)));
}

const severities = ['error', 'warning', 'information', 'hint'];
let bad = files.length === 0;
for (const file of files) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(file)), {
    uri: basename(file),
    maxIssues: 100,
    externalResourceFunction: (uri) => Promise.resolve(new Uint8Array(readFileSync(join(dirname(file), uri)))),
  });
  const {numErrors, numWarnings, numInfos, messages} = report.issues;
  bad ||= numErrors > 0 || numWarnings > 0;
  console.log(`${file}: ${numErrors} errors, ${numWarnings} warnings, ${numInfos} notes`);
  for (const m of messages) console.log(`  ${severities[m.severity]} ${m.code} ${m.pointer ?? ''}: ${m.message}`);
}
process.exit(bad ? 1 : 0);
