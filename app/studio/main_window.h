// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>
#include <filesystem>

class QDockWidget;
class QLabel;
class QTabWidget;

namespace ballast::studio {

class CompareView;
class LengthsView;
class PackingView;
class ResultStrip;
class RunLauncher;
class RunsView;
class ScenarioForm;
class ScenarioView;
class Session;
class TimelineView;

/// The window: the scenario's knobs on the left, its figures above, and the views in the order of the work:
/// scenario, lengths, packing, timeline, runs, compare.
class MainWindow : public QMainWindow {
    Q_OBJECT

  public:
    explicit MainWindow(Session& session, QWidget* parent = nullptr);
    ~MainWindow() override;

    /// Names of the views, as the screenshots' files are called.
    static QStringList viewNames();
    void showView(int index);
    QWidget* view(int index) const;

    /// A workspace (.ballast) or a scenario (.json). Throws Error when it can't be opened.
    void openPath(const std::filesystem::path& path);

    /// The next start without a file opens this workspace again.
    void rememberWorkspace() const;

    ScenarioForm* form() const { return form_; }
    TimelineView* timeline() const { return timeline_; }
    RunsView* runs() const { return runs_; }
    CompareView* compare() const { return compare_; }

  private:
    void buildMenus();
    void openByDialog();
    void saveScenario();
    void newWorkspace();
    void launch();
    void viewChanged(int index);
    void showTitle();
    void complain(const QString& sentence);

    Session* session_;
    QTabWidget* tabs_;
    QDockWidget* dock_;
    ScenarioForm* form_;
    ResultStrip* strip_;
    TimelineView* timeline_;
    RunsView* runs_;
    CompareView* compare_;
    RunLauncher* launcher_;
    QLabel* busy_;
};

}  // namespace ballast::studio
